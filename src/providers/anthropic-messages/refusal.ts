// What the Messages API may refuse, by the key in config.toml that changes it.
import type { ConfigKeys } from "../refusal.ts";

export const configKeys: ConfigKeys = {
  temperature: "temperature",
  max_tokens: "max_tokens",
  thinking: "thinking",
  output_config: "thinking",
};
