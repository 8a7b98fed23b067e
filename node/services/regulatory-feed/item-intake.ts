import { hash } from 'node:crypto';
import type { RegContent } from '../../../protocol/api/regwatch-item.ts';
import { UNCLASSIFIED } from '../../../protocol/api/regwatch-words.ts';
import { hashText, type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { type RecordId, recordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Intake } from '../../intake/intake.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { Store } from '../../store/store.ts';
import { RULE_SET } from './classification-rules.ts';
import { readDocumentApart } from './document-reader.ts';
import type { SourceTerms } from './entry.ts';
import type { GivenItem, RawDocument } from './read-document.ts';
import { RegwatchError } from './regwatch-error.ts';
import {
  itemTable,
  REGWATCH_ACCOUNT,
  REGWATCH_SOURCE_PREFIX,
  type Revision,
  revisionTable,
} from './regwatch-tables.ts';

const WORD = 'meridian/regwatch-item/1';
const ID_DIGITS = 32;

/** Id of a source's item: the same on every node, and for every revision. */
function regItemId(sourceId: string, key: string): string {
  return `rgi_${hash('sha256', [WORD, sourceId, key].join('\0')).slice(0, ID_DIGITS)}`;
}

export interface ItemIntakeOptions {
  readonly store: Store;
  readonly intake: Pick<Intake, 'submitAll'>;
  readonly now: () => number;
  /** Throws if the node has no storage left for records. */
  readonly requireStorage: () => void;
}

/** What became of a document's items. */
export interface IngestReport {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Entries that say nothing, or say again what an earlier one of the document said. */
  readonly skipped: number;
  readonly documentHash: Sha256Hash;
}

/** What became of an item that the operator wrote. */
export interface ItemOutcome {
  readonly itemId: string;
  readonly outcome: 'added' | 'changed' | 'corrected' | 'unchanged';
  /** The record that attests the item as it stands. */
  readonly attestationId: RecordId;
}

/** An item as the operator writes it. */
export interface OwnItem {
  readonly key: string;
  readonly content: RegContent;
  readonly sample: boolean;
}

/** Where it comes from, beside what it says. */
type Origin = Pick<Revision, 'source' | 'sourceHash' | 'rules' | 'sample'>;

/** Source of the items that the operator writes. */
export const OPERATOR_SOURCE = 'operator';
/** Items recorded together: one signature, one write. */
const TOGETHER = 100;
const LOCK_KEY = 'items';

/**
 * Makes records of items: one for each that is new, and one for each that says something else than before, which
 * supersedes the record before. The same document twice makes no record twice: all work on items goes one after
 * another, and what is compared is what stands in the store. A document that was ingested in part is gone on with the
 * next time.
 */
export class ItemIntake {
  readonly #options: ItemIntakeOptions;
  readonly #locks = new KeyedLock();

  constructor(options: ItemIntakeOptions) {
    this.#options = options;
  }

  /** Throws `RegwatchError`, `IntakeError` and what `requireStorage` throws. */
  async ingest(document: RawDocument, terms: SourceTerms): Promise<IngestReport> {
    const documentHash = writeSha256(hash('sha256', document.bytes, 'buffer'));
    const { items, skipped } = await readDocumentApart(document, terms);
    const origin = { source: terms.id, sourceHash: documentHash, rules: RULE_SET, sample: false };
    const counts = { added: 0, changed: 0, unchanged: 0 };
    for (let i = 0; i < items.length; i += TOGETHER) {
      const part = await this.#locks.exclusive(LOCK_KEY, () => this.#record(items.slice(i, i + TOGETHER), origin));
      for (const { outcome } of part) if (outcome !== 'corrected') counts[outcome]++;
    }
    return { ...counts, skipped, documentHash };
  }

  /** Takes an item that the operator wrote; of a key that is known, what it says now. Throws as `ingest` does. */
  async add({ key, content, sample }: OwnItem): Promise<ItemOutcome> {
    const givenHash = contentHash(content);
    const origin = { source: OPERATOR_SOURCE, sourceHash: givenHash, rules: null, sample };
    const [outcome] = await this.#locks.exclusive(LOCK_KEY, () => this.#record([{ key, content, givenHash }], origin));
    if (outcome === undefined) throw new RangeError('one item has one outcome');
    return outcome;
  }

  /** Sets members of an item, whatever its source said or will say of them. Throws as `ingest` does. */
  correct(itemId: string, corrections: Partial<RegContent>): Promise<ItemOutcome> {
    return this.#locks.exclusive(LOCK_KEY, async () => {
      const current = await readCurrentItem(this.#options.store, itemId);
      if (current === undefined) throw new RegwatchError('item-unknown', `no item ${itemId} is held`);
      const { revision, record } = current;
      const content = { ...revision.content, ...corrections };
      if (contentHash(content) === contentHash(revision.content)) {
        return { itemId, outcome: 'unchanged', attestationId: record };
      }
      const corrected: Revision = {
        ...revision,
        changeType: 'corrected',
        content,
        corrections: { ...revision.corrections, ...corrections },
        sourceHash: contentHash(corrections),
        supersedes: [record],
      };
      const [attestationId] = await this.#submit([corrected]);
      return { itemId, outcome: 'corrected', attestationId: attestationId ?? record };
    });
  }

  /** Only while the lock is held. */
  async #record(items: readonly GivenItem[], origin: Origin): Promise<readonly ItemOutcome[]> {
    const { store } = this.#options;
    const looked = await Promise.all(
      items.map(async (item) => {
        const itemId = regItemId(origin.source, item.key);
        const current = await readCurrentItem(store, itemId);
        const isKnown = current !== undefined && current.revision.givenHash === item.givenHash;
        return { itemId, current, next: isKnown ? undefined : revisionOf(itemId, item, origin, current) };
      }),
    );
    const revisions = looked.flatMap(({ next }) => (next === undefined ? [] : [next]));
    const records = (await this.#submit(revisions)).values();
    return looked.map(({ itemId, current, next }) => {
      if (next === undefined) return outcomeOf(itemId, 'unchanged', current?.record);
      return outcomeOf(itemId, next.changeType === 'new' ? 'added' : 'changed', records.next().value);
    });
  }

  async #submit(revisions: readonly Revision[]): Promise<readonly RecordId[]> {
    if (revisions.length === 0) return [];
    const { intake, now, requireStorage } = this.#options;
    requireStorage();
    const built = await intake.submitAll(revisions.map((revision) => itemDraft(revision, now())));
    return built.map(({ record }) => record.id);
  }
}

function revisionOf(
  itemId: string,
  { key, content, givenHash }: GivenItem,
  origin: Origin,
  current: CurrentItem | undefined,
): Revision {
  // What the operator writes again is not held against what he set before.
  const corrections = origin.source === OPERATOR_SOURCE ? {} : (current?.revision.corrections ?? {});
  return {
    ...origin,
    itemId,
    key,
    givenHash,
    changeType: current === undefined ? 'new' : 'changed',
    content: { ...content, ...corrections },
    corrections,
    supersedes: current === undefined ? [] : [current.record],
  };
}

function outcomeOf(itemId: string, outcome: ItemOutcome['outcome'], attestationId: RecordId | undefined): ItemOutcome {
  if (attestationId === undefined) throw new RangeError(`${itemId} has no record`);
  return { itemId, outcome, attestationId };
}

function contentHash(content: Partial<RegContent>): Sha256Hash {
  return hashText(nativeSuite, canonicalize(content));
}

/** An item as it stands. */
interface CurrentItem {
  readonly record: RecordId;
  readonly revision: Revision;
}

/**
 * The item of an id; undefined where this node has none, or has lost what it says: a record that was taken back from
 * peers comes without its payload.
 */
async function readCurrentItem(store: Store, itemId: string): Promise<CurrentItem | undefined> {
  const last = await itemTable.last(store, [itemId]);
  if (last === undefined) return undefined;
  const record = recordId(last[1]);
  const revision = await revisionTable.get(store, record);
  return revision === undefined ? undefined : { record, revision };
}

/** What intake records of a revision, as observed at `now` in epoch milliseconds. It counts against no limit. */
function itemDraft(revision: Revision, now: number): Draft {
  const { itemId, source, content, sourceHash, supersedes } = revision;
  const jurisdiction = content.jurisdictions.filter((label) => label !== UNCLASSIFIED);
  return {
    kind: 'reg_item',
    account: REGWATCH_ACCOUNT,
    sourceId: REGWATCH_SOURCE_PREFIX + source,
    payload: canonicalize(revision),
    claims: {
      channel: 'tiered',
      itemId,
      rawHash: sourceHash,
      observedAt: timestampOf(now),
      ...(jurisdiction.length === 0 ? {} : { jurisdiction }),
    },
    links: { supersedes: supersedes[0] },
    besides: (id) => [revisionTable.put([id], revision)],
  };
}
