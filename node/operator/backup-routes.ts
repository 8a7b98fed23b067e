import { isAbsolute } from 'node:path';
import type { NodeId } from '../../protocol/ids.ts';
import { countCopiedKeys } from '../accounts/copied-keys.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { type NodeStart, startWaitAnswer } from '../federation/start/node-start.ts';
import { readRestorations } from '../federation/start/restoration-table.ts';
import { copyStore } from '../fsck/backup/copy-store.ts';
import { BackupError } from '../fsck/backup/folder.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import type { RecordCounters } from '../records/record-counters.ts';
import type { Store } from '../store/store.ts';
import { CopyStoreShape } from './backup-forms.ts';
import { callerGone } from './operator-listener.ts';

export interface BackupServices {
  readonly self: NodeId;
  readonly store: Store;
  readonly counters: Pick<RecordCounters, 'flush'>;
  readonly start: Pick<NodeStart, 'pending' | 'waits'>;
  readonly now: () => number;
}

/** What became of the copy that this node was restored from, and what its start waits for. Answered while it waits. */
export const RESTORATIONS_PATH = '/restorations';
const MAX_BYTES = 16 << 10;
const LOCK_KEY = 'copy';

const validateCopy = validator(CopyStoreShape);

/** Copies of the store, as the operator of a running node takes them. One at a time: each reads all of it. */
export function backupRoutes(services: BackupServices): readonly OperatorRoute[] {
  const locks = new KeyedLock<typeof LOCK_KEY>();
  const { self, store, counters, now } = services;
  return [
    restorationRoute(services),
    {
      method: 'POST',
      path: '/store-copies',
      access: 'free',
      answer: async ({ context }) => {
        const { directory } = validateCopy((await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value);
        if (!isAbsolute(directory)) throw refused('is not an absolute path');
        const signal = callerGone(context);
        const takeCopy = async () => {
          await counters.flush();
          return copyStore(store, directory, self, now, signal);
        };
        const copy = await refusable(() => locks.exclusive(LOCK_KEY, takeCopy));
        return { body: { success: true, node: self, copy } };
      },
    },
  ];
}

function restorationRoute({ self, store, start, now }: BackupServices): OperatorRoute {
  return {
    method: 'GET',
    path: RESTORATIONS_PATH,
    access: 'free',
    answer: async () => {
      const restorations = await readRestorations(store, self);
      const copiedAt = restorations.at(-1)?.takenAt;
      return {
        body: {
          success: true,
          node: self,
          recovering: start.pending,
          waits: start.waits.map(startWaitAnswer),
          restorations,
          copiedKeys: copiedAt === undefined ? 0 : await countCopiedKeys(store, copiedAt, now()),
        },
      };
    },
  };
}

async function refusable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupError && error.code === 'target') throw refused(error.message);
    throw error;
  }
}

function refused(detail: string): Problem {
  return new Problem('invalid-field', `directory: ${detail}`, {
    errors: [fieldError(['directory'], 'pattern', detail)],
  });
}
