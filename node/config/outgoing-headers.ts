import type { Environment, Variable } from './environment.ts';
import { ConfigError } from './read-variable.ts';

/** RFC 9110 §5.6.2 and §5.5, without the obsolete. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Headers that describe the request itself. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']);

/**
 * Headers for requests to another server: those of the variable `more`, as `{"x-api-key":"…"}`, and the bearer token of
 * the variable `token`.
 *
 * @throws ConfigError naming the variable at fault, never what it holds
 */
export function outgoingHeaders(environment: Environment, token: Variable, more: Variable): Record<string, string> {
  const given = environment[more] === undefined ? {} : headerObject(more, environment[more]);
  const bearer = environment[token];
  if (bearer === undefined) return given;
  if (!HEADER_VALUE.test(bearer)) throw new ConfigError(`${token} has characters that no header can carry`);
  return { ...given, authorization: `Bearer ${bearer}` };
}

function headerObject(variable: Variable, text: string): Record<string, string> {
  const entries = Object.entries(jsonObject(variable, text));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const lower = name.toLowerCase();
      const isFit = HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);
      if (!isFit || OWN_HEADERS.has(lower)) {
        throw new ConfigError(`${variable}: ${JSON.stringify(name.slice(0, 40))} is no header to send`);
      }
      return [lower, value];
    }),
  );
}

function jsonObject(variable: Variable, text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below: what a parser says repeats the text.
  }
  throw new ConfigError(`${variable} is not a JSON object`);
}
