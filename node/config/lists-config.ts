import { isLoopback } from '../outbound/redirects.ts';
import { fills, formOf } from '../screening/lists/edition-files.ts';
import { isFileName } from '../screening/lists/edition-manifest.ts';
import { isListId, LIST_IDS, type ListId } from '../screening/lists/list-id.ts';
import type { ListSources, ListUpdateConfig } from '../screening/lists/update/list-updates.ts';
import { OFFICIAL_SOURCES } from '../screening/lists/update/official-sources.ts';
import type { Environment } from './environment.ts';
import { ConfigError, positive } from './read-variable.ts';

const DEFAULT_UPDATE_HOURS = 6;
/** A week: lists change on most days. */
const MAX_UPDATE_HOURS = 168;
const HOUR_MS = 3_600_000;

/** Where lists are kept up to date from; null where the operator imports them. Throws `ConfigError`. */
export function listsConfig(environment: Environment): ListUpdateConfig | null {
  const { LISTS_SOURCES: text } = environment;
  if (text === undefined) {
    if (environment.LISTS_UPDATE_HOURS !== undefined) throw new ConfigError('LISTS_UPDATE_HOURS needs LISTS_SOURCES');
    return null;
  }
  const intervalMs = positive(environment, 'LISTS_UPDATE_HOURS', DEFAULT_UPDATE_HOURS, MAX_UPDATE_HOURS) * HOUR_MS;
  return { sources: text === 'official' ? officialSources() : sourcesOf(text), intervalMs };
}

function officialSources(): ListSources {
  return new Map(LIST_IDS.map((listId) => [listId, new Map(Object.entries(OFFICIAL_SOURCES[listId]))]));
}

/** `{"us-ofac-sdn":{"sdn.csv":"https://…","alt.csv":"https://…",…}}` */
function sourcesOf(text: string): ListSources {
  return new Map(
    Object.entries(objectOf(text)).map(([listId, files]): [ListId, ReadonlyMap<string, string>] => {
      if (!isListId(listId)) throw new ConfigError(`LISTS_SOURCES: there is no list ${JSON.stringify(listId)}`);
      if (!isObject(files)) throw new ConfigError(`LISTS_SOURCES: ${listId} is no object of names and addresses`);
      const urls = Object.entries(files).map(([name, url]): [string, string] => [name, address(listId, url)]);
      requireForm(
        listId,
        urls.map(([name]) => name),
      );
      return [listId, new Map(urls)];
    }),
  );
}

function requireForm(listId: ListId, names: readonly string[]): void {
  try {
    const { slots } = formOf(listId, names);
    const stray = names.find((name) => !isFileName(name) || !slots.some((slot) => fills(name, slot)));
    if (stray === undefined) return;
    throw new Error(`${JSON.stringify(stray)} is no file of it`);
  } catch (error) {
    throw new ConfigError(`LISTS_SOURCES: ${listId}: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

/** What comes back decides over matches: TLS, unless it is this machine. */
function address(listId: ListId, value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const isProtected = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isProtected || url.username !== '' || url.password !== '') {
    throw new ConfigError(`LISTS_SOURCES: ${listId} has an address that is no https URL`);
  }
  return url.href;
}

function objectOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new ConfigError('LISTS_SOURCES is `official` or a JSON object');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
