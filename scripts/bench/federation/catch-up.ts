import { join } from 'node:path';
import { ALLOCATOR_VARIABLES } from '../../../cluster/supervisor/parts.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { Forked } from '../forked.ts';
import { mostResidentBytes } from '../attacks/resident-memory.ts';
import { makeHomesOf } from '../node-home.ts';
import type { Part, Result } from '../part.ts';
import { count, mebibytes, microseconds, milliseconds } from '../table.ts';
import { type MemberAnswer, type MemberQuestion, parseMemberAnswer } from './member-forms.ts';

const MEMBER = join(import.meta.dirname, 'member-process.ts');
const FULL_RECORDS = 200_000;
const QUICK_RECORDS = 2_000;
const FULL_ROUNDS = 3;
const QUICK_ROUNDS = 1;

/** Records a second that a node with an empty store takes from a peer, each checked before it is stored. */
export const catchUp: Part = {
  name: 'catch-up',
  title: 'Catch-up: an empty node pulls a chain from a peer, each a process of its own',
  async run({ quick, home, signal, say }): Promise<Result> {
    const records = quick ? QUICK_RECORDS : FULL_RECORDS;
    const [origin, ...newcomers] = await makeHomesOf(home);
    if (origin === undefined) throw new RangeError('a federation has members');
    await using source = new Member();
    await source.ask({ ask: 'start', variables: { ...origin } });
    const { batch, groups } = await source.ask({ ask: 'fill', records });
    say(`${count(records)} records made`);
    const rows: string[][] = [];
    for (const newcomer of newcomers.slice(0, quick ? QUICK_ROUNDS : FULL_ROUNDS)) {
      signal.throwIfAborted();
      await using target = new Member();
      const over = new AbortController();
      const most = mostResidentBytes(target.pid, AbortSignal.any([over.signal, signal]));
      await target.ask({ ask: 'start', variables: { ...newcomer } });
      const pulled = await target.ask({ ask: 'pull', from: nodeId(origin['NODE_ID'] ?? ''), batch });
      const served = await source.ask({ ask: 'spent' });
      over.abort();
      const each = (time: number): string => microseconds(time / records);
      rows.push([
        count(records),
        count(groups),
        milliseconds(pulled.took),
        count((records * 1_000) / pulled.took),
        `${each(pulled.main)} / ${each(pulled.all)}`,
        each(served.all),
        mebibytes((await most).own),
      ]);
    }
    return {
      table: [
        [
          'records',
          'groups',
          'time',
          'records/s',
          'processor a record, main / all',
          'of the source',
          'own memory at most',
        ],
        ...rows,
      ],
      notes: [
        'From the first connection until the last batch is on the disk: libp2p with TLS over loopback, both nodes whole. Every',
        'leaf, group signature and root is checked. Processor of the catching node from that connection on, its main thread and',
        'all threads; of the source from the end of the round before. Own memory (RssAnon) from the start of the process.',
      ],
    };
  },
};

/** A member's node in a process of its own, that ends with the object. */
class Member implements AsyncDisposable {
  readonly #forked = new Forked(MEMBER, [], ALLOCATOR_VARIABLES);

  get pid(): number {
    return this.#forked.pid ?? 0;
  }

  async ask(question: MemberQuestion): Promise<MemberAnswer> {
    return parseMemberAnswer(await this.#forked.ask(question));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forked[Symbol.asyncDispose]();
  }
}
