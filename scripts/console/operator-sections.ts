import { cellOf, itemsOf, memberOf } from '../../node/http/console/cells.ts';
import { columns, factsFrom, textOf } from '../../node/http/console/screen.ts';
import type { ChartSection, Section, TableSection } from '../../node/pages/console-page.ts';
import type { JsonObject } from '../../protocol/json/value.ts';

/** What the node told its operator, by what was asked. */
export interface OperatorAnswers {
  readonly overview: JsonObject;
  readonly lists: JsonObject;
  readonly feed: JsonObject;
  readonly keys: JsonObject;
}

/** The operator's screen. */
export function operatorSections({ overview, lists, feed, keys }: OperatorAnswers): readonly Section[] {
  return [
    factsFrom(overview, 'Records and the ledger', null, {
      at: 'As of',
      version: 'Version',
      'records.made': 'Records made since the start',
      'records.queued': 'Records that wait to be written',
      'records.unsealed': 'Records in no batch yet',
      'anchoring.reachable': 'The ledger is reached',
      'anchoring.lastAnswerAt': 'Its last answer',
      'anchoring.refusal': 'Its last refusal',
      'anchoring.backlog': 'Batches not confirmed',
      'anchoring.lagSeconds': 'Age of the oldest of them, in seconds',
      'anchoring.delayed': 'The spend guard holds some back',
      'anchoring.spend.hourTransactions': 'Transactions of this hour',
      'anchoring.spend.dayTransactions': 'Transactions of this day',
      'anchoring.spend.dayTinybars': 'Spent this day, in tinybars',
    }),
    factsFrom(overview, 'Storage and payments', null, {
      'storage.level': 'Storage',
      'storage.usedBytes': 'Bytes of the store',
      'storage.quotaBytes': 'Of so many',
      'storage.freeBytes': 'Bytes that are free',
      'payments.isSelling': 'It takes payments',
      'payments.settled': 'Payments settled',
    }),
    chart(overview, 'How long the ledger took for the last batches', 'anchoring.batches', {
      label: 'batch',
      field: 'seconds',
      axis: 'Batch',
      unit: 'seconds',
    }),
    chart(overview, 'Payments of the last days', 'payments.days', {
      label: 'day',
      field: 'settled',
      axis: 'Day',
      unit: 'payments',
    }),
    chart(overview, 'Paid on the last days', 'payments.days', { label: 'day', field: 'usd', axis: 'Day', unit: 'USD' }),
    table(overview, 'Members', 'federation.members', {
      node: 'Member',
      region: 'Region',
      connected: 'Connected',
      rttMilliseconds: 'Round trip, ms',
      'head.batch': 'Last batch held',
      'head.records': 'Records held',
      trusted: 'Not caught',
    }),
    table(overview, 'Checkpoints', 'federation.log.checkpoints', {
      node: 'Member',
      size: 'Decisions covered',
      behind: 'Behind',
      keyId: 'By key',
    }),
    table(lists, 'Official lists', 'lists', {
      listId: 'List',
      freshness: 'Freshness',
      'edition.retrievedAt': 'Retrieved',
      'edition.fileDate': 'Its own date',
      'edition.entryCount': 'Entries',
      'edition.unmatchedRows': 'Rows without entry',
      'edition.sample': 'A sample',
      'source.failure': 'What failed',
    }),
    table(feed, 'Sources of the regulatory feed', 'sources', {
      id: 'Source',
      succeededAt: 'Read',
      nextAt: 'Next',
      failures: 'Failures',
      error: 'Why',
    }),
    table(keys, 'Signing keys', 'keys', {
      keyId: 'Key',
      validFrom: 'From',
      seqFrom: 'First record',
      revoked: 'Revoked',
    }),
    table(overview, 'API keys that end within 30 days', 'keys.endingSoon', {
      account: 'Account',
      keyId: 'Key',
      name: 'Name',
      expiresAt: 'Ends',
    }),
    table(overview, 'Faults of peers since the start', 'federation.faults', {
      peer: 'Peer',
      fault: 'Fault',
      count: 'How often',
      last: 'Last',
    }),
    table(overview, 'Misbehaviour', 'federation.equivocations', { node: 'Member', batch: 'Batch', stands: 'Stands' }),
  ];
}

function chart(
  answer: JsonObject,
  title: string,
  member: string,
  { label, ...drawn }: Pick<ChartSection, 'axis' | 'field' | 'unit'> & { readonly label: string },
): ChartSection {
  const points = itemsOf(answer, member).map((item) => ({
    label: textOf(item, label),
    value: Number(item[drawn.field]),
  }));
  return { kind: 'chart', title, json: null, member, ...drawn, points };
}

function table(
  answer: JsonObject,
  title: string,
  member: string,
  titles: Readonly<Record<string, string>>,
): TableSection {
  const all = columns(titles);
  return {
    kind: 'table',
    title,
    json: null,
    member,
    columns: all,
    rows: itemsOf(answer, member).map((item) => all.map(({ field }) => cellOf(field, memberOf(item, field)))),
    empty: { text: 'None.', curl: null },
    next: null,
  };
}
