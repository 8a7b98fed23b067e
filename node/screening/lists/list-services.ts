import type { Logger } from 'pino';
import type { Intake } from '../../intake/intake.ts';
import type { Store } from '../../store/store.ts';
import { ListSearches } from '../list-searches.ts';
import { packInThread } from '../packing-thread.ts';
import { ListRegistry } from './list-registry.ts';
import { type ListUpdateConfig, ListUpdates } from './update/list-updates.ts';

/** The official lists of a node, and what keeps them up to date. */
export interface ListServices {
  readonly lists: ListRegistry;
  /** Null where the node has no source: its operator imports them. */
  readonly listUpdates: ListUpdates | null;
  /** The editions in force, ready to be searched. */
  readonly searches: ListSearches;
}

interface ListServicesOptions {
  readonly config: { readonly home: string; readonly lists: ListUpdateConfig | null };
  readonly store: Store;
  readonly intake: Pick<Intake, 'submit'>;
  readonly now: () => number;
  readonly log: Logger;
}

export function openListServices({
  config,
  store,
  intake,
  now,
  log,
}: ListServicesOptions): ListServices & AsyncDisposable {
  const shared = { store, now, log: log.child({ component: 'lists' }) };
  const lists = new ListRegistry({
    ...shared,
    home: config.home,
    attest: async (draft) => (await intake.submit(draft)).record,
  });
  const listUpdates = config.lists === null ? null : new ListUpdates({ ...shared, lists, config: config.lists });
  const searches = new ListSearches({ ...shared, lists, pack: packInThread(lists) });
  return {
    lists,
    listUpdates,
    searches,
    async [Symbol.asyncDispose]() {
      await listUpdates?.[Symbol.asyncDispose]();
      await searches[Symbol.asyncDispose]();
    },
  };
}
