// Answers as lines of JSON. A tree of entries is as deep as its session is long, too deep for `JSON.stringify`.
import type { CommandId, RpcCommandName, RpcResponse, RpcResult, TreeNode } from "../../protocol/rpc.ts";

export interface Answered {
  readonly id: CommandId | undefined;
  readonly command: string;
}

export function toFailure({ id, command }: Answered, error: string): RpcResponse {
  return { ...idOf(id), type: "response", command, success: false, error };
}

/** A record, or a line of JSON where only that is possible. */
export function toSuccess<Name extends RpcCommandName>(
  { id, command }: { readonly id: CommandId | undefined; readonly command: Name },
  data: RpcResult<Name>,
): RpcResponse | string {
  const answer = { ...idOf(id), type: "response", command, success: true } as const;
  if (command !== "get_tree") return data === undefined ? answer : { ...answer, data };
  const { tree, leafId } = data as RpcResult<"get_tree">;
  const text = `{"tree":${stringifyNodes(tree)},"leafId":${JSON.stringify(leafId)}}`;
  return `${JSON.stringify(answer).slice(0, -1)},"data":${text}}`;
}

function idOf(id: CommandId | undefined) {
  return id === undefined ? {} : { id };
}

/** As `JSON.stringify` would write them, however deep they are. */
function stringifyNodes(roots: readonly TreeNode[]): string {
  const parts: string[] = ["["];
  // What is still to be written, last first.
  const open: (TreeNode | string)[] = ["]"];
  const push = (nodes: readonly TreeNode[]) => {
    for (let i = nodes.length - 1; i >= 0; i--) open.push(nodes[i] as TreeNode, ...(i > 0 ? [","] : []));
  };
  push(roots);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    const { entry, children, ...label } = next;
    const rest = JSON.stringify(label).slice(1, -1);
    parts.push(`{"entry":${JSON.stringify(entry)},"children":[`);
    open.push(`]${rest === "" ? "" : `,${rest}`}}`);
    push(children);
  }
  return parts.join("");
}
