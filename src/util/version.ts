// The version this program was built from.
import { version as packageVersion } from "../../package.json";

export const version = packageVersion;
