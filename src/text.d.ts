// Files imported `with { type: "text" }`: the compiled program carries them.
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.jsonl" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
