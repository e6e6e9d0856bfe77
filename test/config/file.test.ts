// config.toml: every key it may have, and the one clear error for everything else.
import { expect, test } from "bun:test";
import { parseConfigFile } from "../../src/config/file.ts";

test("a file with every key is taken as it is", () => {
  const text = `
provider = "mine"
model = "one"
max_tokens = 1
max_turns = 2
max_tool_output = 3
temperature = 0.5
thinking = "xhigh"
max_retries = 0
quiet = true
context_files = false
[providers.mine]
base_url = "http://mine.test"
api = "anthropic-messages"
api_key_env = "MINE_KEY"
first_byte_timeout = 1.5
idle_timeout = 0
max_tokens_field = "max_completion_tokens"
calls_only_content = "omit"
reasoning_replay = "required"
tool_schema = "gemini"
system_role = "developer"
strict_tools = "false"
thinking_format = "thinking_type"
headers = { "x-a" = "b" }
ca = "ca.pem"
client_cert = "c.pem"
client_key = "k.pem"
models = ["one", { id = "two", context_window = 5, max_tokens = 6, reasoning = true, input = ["text"], cost = { input = 1, output = 2.5, cache_read = 0.1, cache_write = 0 } }]
`;
  expect(parseConfigFile(text, "config.toml") as unknown).toEqual(Bun.TOML.parse(text));
});

test.each([
  ["not TOML", "a = 1\nb = = 2\n", /^c\.toml(?::\d+)?: not valid TOML/],
  ["an unknown key", "quite = true", /^c\.toml:1: unknown key 'quite'$/],
  ["an unknown key of a provider", '\n[providers.x]\nurl = "a"', /^c\.toml:3: unknown key 'providers\.x\.url'$/],
  ["a wrong type", 'max_turns = "3"', /^c\.toml:1: 'max_turns' must be of type (?:int|number)$/],
  ["a number too small", "max_tokens = 0", /^c\.toml:1: 'max_tokens' must be above 0$/],
  ["a number too large", "temperature = 2.5", /^c\.toml:1: 'temperature' must be at most 2$/],
  ["retries below none", "max_retries = -1", /^c\.toml:1: 'max_retries' must be at least 0$/],
  ["an unknown level", 'thinking = "hard"', /^c\.toml:1: 'thinking' must be one of "off", "minimal"/],
  [
    "a limit below none",
    "[providers.x]\nidle_timeout = -1",
    /^c\.toml:2: 'providers\.x\.idle_timeout' must be at least 0$/,
  ],
  [
    "an unknown quirk",
    '[providers.x]\nreasoning_replay = "sometimes"',
    /^c\.toml:2: 'providers\.x\.reasoning_replay' must be one of "always", "required", "never"$/,
  ],
  [
    "a model without an id",
    "[providers.x]\nmodels = [{ max_tokens = 1 }]",
    /'providers\.x\.models\.0\.id' must be of type string/,
  ],
])("%s is told with its line", (_name, text, message) => {
  expect(() => parseConfigFile(text, "c.toml")).toThrow(
    expect.objectContaining({ code: "config", message: expect.stringMatching(message) }),
  );
});
