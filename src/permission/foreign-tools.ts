// Tools of pi's own that there are none of here: clients name them to choose what is offered.
export const foreignTools: ReadonlySet<string> = new Set([
  "codemode",
  "tool_search",
  "powershell",
  "list_mcp_resources",
  "list_mcp_resource_templates",
  "read_mcp_resource",
]);
