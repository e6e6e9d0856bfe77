// A session in which every text tries to become more than text.
import type { Entry } from "../../src/protocol/entry.ts";
import { makePng } from "../helpers/png.ts";
import { buildSession, call, type SessionBuilder, usage } from "./build-session.ts";

/** What each attack would set if it ran. */
const spoil = "document.documentElement.dataset.spoiled='1'";

export const attacks: readonly string[] = [
  `<script>${spoil};alert(1)</script>`,
  `<img src="https://evil.example/p.png" onerror="${spoil}">`,
  `" onmouseover="${spoil}" autofocus onfocus="${spoil}" x="`,
  `' onclick='${spoil}' style='position:fixed`,
  `<svg onload="${spoil}"><script>${spoil}</script></svg>`,
  `<iframe src="https://evil.example/" srcdoc="<script>parent.${spoil}</script>"></iframe>`,
  `</style></title></pre></code></details><script>${spoil}</script>`,
  `<style>@import url(https://evil.example/x.css);*{display:none}</style>`,
  `<![CDATA[<script>${spoil}</script>]]>`,
  `<!--<script>${spoil}</script>-->`,
  `<?xml version="1.0"?><!DOCTYPE x>`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<base href="https://evil.example/"><link rel="stylesheet" href="https://evil.example/x.css">`,
  `<form action="https://evil.example/"><button formaction="javascript:${spoil}">x</button></form>`,
  `&lt;script&gt;${spoil}&lt;/script&gt; &#60;script&#62; &#x202e;reversed`,
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  `<a href="javascript:${spoil}">x</a>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${spoil}">`,
  `<details ontoggle="${spoil}" open>x</details>`,
  "nul\u0000 bidi\u202eevil\u202c line\u2028para\u2029 bell\u0007 escape\u001b[31m hidden\u200b\u{e0041}",
  "${7*7} {{7*7}} `template` ]]>",
];

const markdownAttacks = `
[script](javascript:alert(1)) [mixed](JaVa&#115;cript:alert(1)) [tab](java&#9;script:alert(1)) [data](data:text/html,<script>alert(1)</script>)
[vb](vbscript:x) [file](file:///etc/passwd) [relative](src/a.ts:1) [anchor](#e1) [protocol](//evil.example/x)
[quote](https://evil.example/"onmouseover="alert(1) "ti\\"tle<") [good](https://example.com/a?b=1&c=2) <https://auto.example/> [mail](mailto:a@example.com)
[reference]

![picture](https://evil.example/p.png "title\\" onload=x") ![script](javascript:alert(1)) ![data](data:image/svg+xml;base64,PHN2Zy8+)

[reference]: javascript:alert(1) "x"

\`\`\`js" onload="alert(1)
</code></pre><script>alert(1)</script>
\`\`\`

\`\`\`diff
+<script>alert(1)</script>
\`\`\`

| a | <b>b</b> |
|---|---|
| <script>alert(1)</script> | \`<i>\` |

<div onclick="alert(1)">

# heading <img src=x onerror=alert(1)>
`;

export function hostileSession(): SessionBuilder {
  const session = buildSession();
  const all = attacks.join("\n\n");
  const nested = { [all]: all, list: attacks.map((attack) => ({ [attack]: attack })) };
  session.add({ type: "model_change", provider: all, modelId: all });
  session.add({ type: "session_info", name: `</title><script>${spoil}</script>` });
  session.add({
    type: "message",
    message: {
      role: "system",
      content: all,
      sections: { [all]: all },
      toolsAdded: [{ name: all, description: all, parameters: {} }],
      timestamp: 1,
    },
  });
  session.user(all);
  for (const attack of attacks) {
    session.answer([
      { type: "thinking", thinking: attack },
      { type: "text", text: attack },
      { ...call(attack, attack, { command: attack, [attack]: { [attack]: [attack] } }), argumentsError: attack },
    ]);
    session.result(attack, attack, { toolName: attack, isError: attack.length % 2 === 0 });
  }
  session.answer([{ type: "text", text: markdownAttacks }], { provider: all, model: all });
  session.answer([
    call("edit", "edit", { path: all, edits: [{ old_string: all, new_string: `${all}\n<b>` }] }),
    call("bash", "bash", { command: all, [all]: all }),
  ]);
  session.result("edit", `--- a/<script>\n+++ b/<script>\n@@ -1 +1 @@\n-${all}\n+${all}`);
  session.result("nobody", all, {
    content: [
      { type: "image", mimeType: "image/svg+xml", data: btoa(`<svg onload="${spoil}"/>`) },
      { type: "image", mimeType: 'image/png" onerror="alert(1)', data: "AAAA" },
      { type: "image", mimeType: "image/png", data: '" onerror="alert(1)' },
      { type: "image", mimeType: "image/png", data: Buffer.from(makePng(20, 20)).toString("base64") },
    ],
  });
  session.answer([], { stopReason: "error", errorMessage: all });
  session.add({ type: "compaction", summary: all, firstKeptEntryId: all, tokensBefore: 1e6, usage: usage(1, 1, 1) });
  const fork = session.add({ type: "branch_summary", fromId: all, summary: markdownAttacks });
  session.user(all);
  session.answer([{ type: "text", text: all }]);
  session.moveTo(fork);
  session.add({ type: "custom_message", customType: all, content: all, display: true });
  session.add({ type: "custom_message", customType: all, content: all, display: false });
  session.add({ type: "usage", kind: all, provider: all, model: all, usage: usage(1, 1, 1) });
  session.add({
    type: "message",
    message: { role: "bashExecution", command: all, output: all, cancelled: false, truncated: false, timestamp: 1e300 },
  });
  session.add({ type: all, nested } as never);
  session.add({ type: "message", message: { role: "assistant", content: nested } } as never);
  session.add({ type: "label", targetId: session.entries[3]?.id ?? "", label: all });
  session.user("the end");
  session.answer([{ type: "text", text: "The end." }]);
  const odd = session.entries.at(-1) as Entry;
  odd.id = `"><script>${spoil}</script>`;
  session.moveTo(odd.id);
  return session;
}
