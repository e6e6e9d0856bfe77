// Thinking levels across models that tell different ones apart. Pure.
import type { ThinkingLevel } from "../protocol/message.ts";
import { thinkingLevels } from "../protocol/thinking-level.ts";

/**
 * The level among `known` that is nearest to the wanted one, the lower of two equally near. `off` is only ever met by itself; a model that
 * cannot be told to stop thinking gets its least level instead. Undefined when `known` is empty.
 */
export function nearestLevel(wanted: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel | undefined {
  if (known.includes(wanted)) return wanted;
  const distance = (level: ThinkingLevel) => Math.abs(thinkingLevels.indexOf(level) - thinkingLevels.indexOf(wanted));
  const levels = thinkingLevels.filter((level) => level !== "off" && known.includes(level));
  return levels.sort((a, b) => distance(a) - distance(b))[0];
}
