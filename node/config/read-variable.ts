import { isLoopback } from '../outbound/redirects.ts';
import type { Environment, Variable } from './environment.ts';

/** A node that is set up wrongly. Names the variable at fault, never a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Where a server listens; port 0 is one of the system's choice. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;
const HOST_AND_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/;
const HTTP = new Set(['http:', 'https:']);

/** The variable's text. Throws `ConfigError` where it is not set. */
export function required(environment: Environment, name: Variable): string {
  const value = environment[name];
  if (value === undefined) throw new ConfigError(`${name} is not set`);
  return value;
}

/** What `read` makes of the variable; what it throws becomes a `ConfigError` with its message. */
export function parse<Value>(environment: Environment, name: Variable, read: (text: string) => Value): Value {
  try {
    return read(required(environment, name));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${name}: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

/** What listens where the variables say; what the system says against it becomes a `ConfigError` with its message. */
export async function listening<Listening>(names: string, opening: Promise<Listening>): Promise<Listening> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw new ConfigError(`${names}: ${error.message}`);
    throw error;
  }
}

/** Throws `ConfigError` where the variable is no number above 0, or more than `most`. */
export function positive(
  environment: Environment,
  name: Variable,
  otherwise: number,
  most = Number.POSITIVE_INFINITY,
): number {
  const text = environment[name];
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new ConfigError(`${name} is not a positive number`);
  if (value > most) throw new ConfigError(`${name} is at most ${most}`);
  return value;
}

/** Bounds of a whole number, both of them allowed. */
interface WholeNumbers {
  readonly least: number;
  readonly most: number;
  readonly otherwise: number;
}

/** Throws `ConfigError` where the variable is no whole number within the bounds. */
export function wholeNumber(
  environment: Environment,
  name: Variable,
  { least, most, otherwise }: WholeNumbers,
): number {
  const value = Number(environment[name] ?? otherwise);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ConfigError(`${name} is no whole number from ${least} to ${most}`);
  }
  return value;
}

export function port(environment: Environment, name: Variable, otherwise: number): number {
  const value = Number(environment[name] ?? otherwise);
  if (!Number.isInteger(value) || value < 0 || value > MAX_PORT) throw new ConfigError(`${name} is not a port`);
  return value;
}

/** `host:port`; an IPv6 address in brackets. Throws `ConfigError`. */
export function listenAddress(environment: Environment, name: Variable, otherwise: ListenAddress): ListenAddress {
  const text = environment[name];
  if (text === undefined) return otherwise;
  const address = hostAndPort(text);
  if (address === null) throw new ConfigError(`${name} is not host:port`);
  return address;
}

/** Of `host:port`; null where it is not that. */
export function hostAndPort(text: string): ListenAddress | null {
  const [, ipv6, other, digits] = HOST_AND_PORT.exec(text) ?? [];
  const host = ipv6 ?? other;
  const number = Number(digits);
  return host === undefined || number > MAX_PORT ? null : { host, port: number };
}

export function oneOf<Choice extends string>(
  environment: Environment,
  name: Variable,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice {
  const text = environment[name];
  if (text === undefined) return otherwise;
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new ConfigError(`${name} is one of ${choices.join(', ')}`);
  return choice;
}

/**
 * An HTTP address, without slashes at its end. What is sent there is not for others, and what comes back is believed:
 * TLS, unless it is this machine.
 */
export function protectedUrl(environment: Environment, name: Variable): string {
  const text = required(environment, name);
  const url = URL.parse(text);
  if (url === null || !HTTP.has(url.protocol)) {
    throw new ConfigError(`${name} is not an http(s) URL`);
  }
  if (url.username !== '' || url.password !== '') throw new ConfigError(`${name} must not hold a user or password`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw new ConfigError(`${name} needs https`);
  return text.replace(/\/+$/, '');
}

/** HTTP addresses, separated by commas. Throws `ConfigError`. */
export function httpUrls(environment: Environment, name: Variable): string[] {
  const urls = list(environment[name] ?? '');
  if (!urls.every((text) => HTTP.has(URL.parse(text)?.protocol ?? ''))) {
    throw new ConfigError(`${name} holds what is not an http(s) URL`);
  }
  return urls;
}

/** Items separated by commas. */
export function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
