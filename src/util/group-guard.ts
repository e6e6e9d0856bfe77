// Ends process groups when this program dies without a word: a shell holds the other end of a pipe, and its end tells.

export interface GroupGuard {
  add(group: number): void;
  remove(group: number): void;
}

/** It does not end with the signals that end us, and keeps the list in `$groups`. */
const script = `trap '' HUP INT TERM
groups=' '
while read -r what group; do
  rest=' '
  for each in $groups; do [ "$each" = "$group" ] || rest="$rest$each "; done
  groups=$rest
  [ "$what" = remove ] || groups="$groups$group "
done
for each in $groups; do kill -s KILL -- "-$each"; done`;

/** Throws what `Bun.spawn` throws. */
export function startGroupGuard(env: Readonly<Record<string, string>>): GroupGuard {
  const shell = Bun.spawn(["/bin/sh", "-c", script], {
    cwd: "/",
    env,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.unref();

  function say(line: string): void {
    shell.stdin.write(`${line}\n`);
    // Without the shell there is no guard, which is how it was before.
    void Promise.resolve(shell.stdin.flush()).catch(() => {});
  }

  return { add: (group) => say(`add ${group}`), remove: (group) => say(`remove ${group}`) };
}
