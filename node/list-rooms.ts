import type { Logger } from 'pino';
import type { NodeConfig } from './config/config.ts';
import type { Intake } from './intake/intake.ts';
import { ListRegistry } from './lists/list-registry.ts';
import { ListUpdates } from './lists/update/list-updates.ts';
import { ListSearches } from './screening/list-searches.ts';
import { packInThread } from './screening/packing-thread.ts';
import type { Store } from './store/store.ts';

/** The official lists of a node, and what keeps them up to date. */
export interface ListRooms {
  readonly lists: ListRegistry;
  /** Null where the node has no source: its operator imports them. */
  readonly listUpdates: ListUpdates | null;
  /** The editions in force, ready to be searched. */
  readonly searches: ListSearches;
}

interface ListRoomsOptions {
  readonly config: Pick<NodeConfig, 'home' | 'lists'>;
  readonly store: Store;
  readonly intake: Pick<Intake, 'submit'>;
  readonly now: () => number;
  readonly log: Logger;
}

export function openListRooms({ config, store, intake, now, log }: ListRoomsOptions): ListRooms & AsyncDisposable {
  const room = { store, now, log: log.child({ room: 'lists' }) };
  const lists = new ListRegistry({
    ...room,
    home: config.home,
    attest: async (draft) => (await intake.submit(draft)).record,
  });
  const listUpdates = config.lists === null ? null : new ListUpdates({ ...room, lists, config: config.lists });
  const searches = new ListSearches({ ...room, lists, pack: packInThread(lists) });
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
