import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../node/fsck/fsck.ts';
import type { ListedEntry } from '../../../node/screening/lists/contract.ts';
import { LIST_IDS, type ListId } from '../../../node/screening/lists/list-id.ts';
import type { ListOutcome, ListState } from '../../../node/operator/list-forms.ts';
import { OperatorError, operatorRequest } from '../../../node/operator/operator-client.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import { isSha256Hash } from '../../../protocol/hash.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import {
  type FileContents,
  incoming,
  ofacEdition,
  ofacFiles,
  ofacRow,
  unFile,
  unIndividual,
} from '../../fixtures/lists/list-files.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const SAMPLES = join(import.meta.dirname, '../../../cluster/samples/lists');
const SDN = 'us-ofac-sdn';
const DAY_MS = 86_400_000;
const NO_COMPANIONS = { alt: [], add: [], comments: [] };

let ahead = 0;
const network = await TestNetwork.start({ overrides: { now: () => Date.now() + ahead } });
const node = network.node();
const socket = join(node.config.home, 'operator.sock');
const folder = await mkdtemp(join(tmpdir(), 'meridian-lists-'));
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function post(listId: ListId, what: string, body: JsonObject): Promise<ListOutcome> {
  return JSON.parse(await operatorRequest(socket, 'POST', `/lists/${listId}/${what}`, body));
}

async function stateOf(listId: ListId): Promise<ListState | undefined> {
  const { lists }: { lists: ListState[] } = JSON.parse(await operatorRequest(socket, 'GET', '/lists'));
  return lists.find((state) => state.listId === listId);
}

/** Imports an edition of OFAC's list with so many entries. */
async function importEdition(entries: number, more: JsonObject = {}, first = 1): Promise<ListOutcome> {
  await write(SDN, ofacEdition(entries, first));
  return post(SDN, 'import', { directory: folder, ...more });
}

async function write(listId: ListId, contents: FileContents): Promise<void> {
  await cp(join(SAMPLES, listId), join(folder, listId), { recursive: true });
  await rm(join(folder, listId, 'SAMPLE'));
  for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, listId, name), content);
}

async function entriesOf(listId: ListId): Promise<readonly ListedEntry[]> {
  const { lists } = node.context;
  const edition = lists.current().get(listId);
  return edition === undefined ? [] : Array.fromAsync(lists.entries(edition));
}

test('without an import every list is missing, and there is no source', async () => {
  for (const listId of LIST_IDS) {
    const state = await stateOf(listId);
    assert.equal(state, { listId, freshness: 'missing', edition: null, kept: 0, source: null });
  }
  const { outcome, code } = await post(SDN, 'update', {});
  assert.equal([outcome, code], ['refused', 'no-source']);
});

test('the samples are taken as samples, each attested by a record that anyone can verify', async () => {
  const told: string[] = [];
  const end = node.context.lists.onChange(({ listId }) => void told.push(listId));
  for (const listId of LIST_IDS) {
    const { outcome, edition } = await post(listId, 'import', { directory: SAMPLES });
    assert.is(outcome, 'taken');
    assert.is(edition?.sample, true);
    assert.ok((edition?.entryCount ?? 0) > 1);
    const verified = await node.get(`/v1/verify/${edition?.attestationId}`, { key: null });
    assert.is(verified.status, 200, verified.text);
  }
  end();
  assert.equal(told, [...LIST_IDS]);
  assert.is((await stateOf(SDN))?.freshness, 'fresh');
});

test('the record claims the hash of the files, when they were retrieved, and that it is a sample', async () => {
  const edition = node.context.lists.current().get(SDN);
  const found = edition === undefined ? undefined : await readRecord(node.context.store, edition.attestationId);
  const { kind, account, claims } = found?.record ?? {};
  assert.equal([kind, account, claims?.keyEvent], ['key_event', 'meridian:lists', 'list-edition']);
  assert.equal([claims?.rawHash, claims?.observedAt], [edition?.fileHash, edition?.retrievedAt]);
  const [database] = claims?.referenceDatabase ?? [];
  assert.equal([database?.id, database?.sha256], [SDN, edition?.fileHash]);
  assert.match(database?.version ?? '', /^sample /);
});

test('taking the same files again changes nothing but when they were retrieved, which is attested', async () => {
  const before = (await stateOf(SDN))?.edition;
  ahead += 60_000;
  const { outcome, edition } = await post(SDN, 'import', { directory: SAMPLES });
  assert.is(outcome, 'unchanged');
  assert.is(edition?.fileHash, before?.fileHash);
  assert.ok((edition?.retrievedAt ?? '') > (before?.retrievedAt ?? ''));
  assert.is.not(edition?.attestationId, before?.attestationId);
  assert.is((await stateOf(SDN))?.kept, 1);
});

test('a real edition takes the place of a sample, of any size; a sample never that of a real one', async () => {
  assert.is((await importEdition(3)).outcome, 'taken');
  const { outcome, code, edition } = await post(SDN, 'import', { directory: SAMPLES });
  assert.equal([outcome, code, edition?.sample], ['refused', 'sample', false]);
});

test('an edition that shrinks by more than a tenth is refused until the operator accepts it', async () => {
  assert.is((await importEdition(100)).outcome, 'taken');
  assert.is((await importEdition(90, {}, 2)).outcome, 'taken');
  const refused = await importEdition(80);
  assert.equal([refused.outcome, refused.code, refused.edition?.entryCount], ['refused', 'shrank', 90]);
  assert.match(refused.detail ?? '', '80 entries');
  assert.is((await entriesOf(SDN)).length, 90);
  const accepted = await importEdition(80, { acceptShrink: true });
  assert.equal([accepted.outcome, accepted.edition?.entryCount], ['taken', 80]);
});

test('an edition that does not read is refused, and the one in force stays', async () => {
  const before = await stateOf(SDN);
  await write(SDN, { ...ofacEdition(100), 'sdn.csv': '<html>Moved</html>' });
  const { outcome, code } = await post(SDN, 'import', { directory: folder });
  assert.equal([outcome, code], ['refused', 'malformed']);
  assert.equal(await stateOf(SDN), before);
});

test('a list that the folder lacks stays; files that are no part of a list are named', async () => {
  await write('un-sc-consolidated', { 'notes.txt': 'x' });
  const given = await post('un-sc-consolidated', 'import', { directory: folder });
  assert.equal([given.outcome, given.ignored], ['taken', ['notes.txt']]);
  const other = await post('eu-consolidated', 'import', { directory: folder });
  assert.equal([other.outcome, other.edition?.sample], ['not-given', true]);
});

test('a question that is none is refused, and changes nothing', async () => {
  for (const [path, body] of [
    [`/lists/${SDN}/import`, { directory: 'relative' }],
    [`/lists/${SDN}/import`, {}],
    [`/lists/${SDN}/update`, { directory: folder }],
    ['/lists/other/import', { directory: folder }],
  ] as const) {
    const error: unknown = await operatorRequest(socket, 'POST', path, body).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof OperatorError && error.status === 400, `${path}: ${String(error)}`);
  }
});

test('old editions can still be read, by the hash that an old screening names', async () => {
  const { lists } = node.context;
  const now = lists.current().get(SDN);
  assert.is(now?.entryCount, 80);
  const names = await readdir(join(node.config.home, 'lists', SDN));
  const counts: number[] = [];
  for (const name of names) {
    const hash = `sha256:${name}`;
    const edition = isSha256Hash(hash) ? await lists.edition(SDN, hash) : undefined;
    assert.ok(edition !== undefined, name);
    if (edition !== undefined) counts.push((await Array.fromAsync(lists.entries(edition))).length);
  }
  assert.equal(
    counts.toSorted((a, b) => a - b),
    [3, 4, 80, 90, 100],
  );
});

test('after a restart the same editions are in force', async () => {
  const before = [...node.context.lists.current().values()];
  await node.stop();
  await writeFile(join(node.config.home, 'lists', SDN, '.incoming-left'), 'x');
  await node.start();
  assert.equal([...node.context.lists.current().values()], before);
  assert.is((await readdir(join(node.config.home, 'lists', SDN))).includes('.incoming-left'), false);
});

test('an edition grows stale after two days, and counts as too old after seven', async () => {
  for (const [days, freshness] of [
    [1, 'fresh'],
    [2, 'stale'],
    [6, 'too-old'],
  ] as const) {
    ahead += days * DAY_MS;
    assert.is((await stateOf(SDN))?.freshness, freshness);
  }
});

test('fsck finds the kept editions whole, an altered one, and one that is gone', async () => {
  await node.stop();
  const { home } = node.config;
  const clean = await fsck(home);
  assert.equal(
    clean.report.findings.filter(({ severity }) => severity !== 'note'),
    [],
  );
  assert.is(clean.report.counts.listEditions, 11);
  const [first = '', second = ''] = await readdir(join(home, 'lists', SDN));
  const victim = join(home, 'lists', SDN, first, 'sdn.csv.gz');
  const bytes = await readFile(victim);
  await writeFile(victim, Buffer.concat([bytes.subarray(0, -9), Buffer.from([0xff]), bytes.subarray(-8)]));
  await rm(join(home, 'lists', SDN, second), { recursive: true });
  const { report } = await fsck(home);
  assert.equal(
    report.findings
      .filter(({ table }) => table === 'lists')
      .map(({ severity, key }) => `${severity} ${key}`)
      .toSorted(),
    [`problem ${SDN}/${first}`, `warning ${SDN}/${second}`].toSorted(),
  );
});

test('a node whose edition is gone says so and starts; the list is missing until it is imported again', async () => {
  await rm(join(node.config.home, 'lists', 'eu-consolidated'), { recursive: true });
  await node.start();
  assert.is((await stateOf('eu-consolidated'))?.freshness, 'damaged');
  assert.match(node.log.join(''), 'a list is not there any more');
  assert.is((await post('eu-consolidated', 'import', { directory: SAMPLES })).outcome, 'taken');
});

test('an edition whose files are of an earlier day is refused until the operator accepts it', async () => {
  const un = async (day: string, name: string, more = {}) => {
    const file = unFile(unIndividual(1, name), `dateGenerated="${day}T23:00:03.110Z"`);
    await write('un-sc-consolidated', { 'consolidated.xml': file });
    return post('un-sc-consolidated', 'import', { directory: folder, ...more });
  };
  assert.is((await un('2026-11-02', 'LISTED THEN', { acceptShrink: true })).outcome, 'taken');
  assert.is((await un('2026-11-02', 'LISTED THAT DAY')).outcome, 'taken');
  const refused = await un('2026-11-01', 'DELISTED');
  assert.equal([refused.code, refused.edition?.fileDate?.slice(0, 10)], ['older', '2026-11-02']);
  assert.match(refused.detail ?? '', 'of 2026-11-01, those of the edition in force of 2026-11-02');
  assert.is((await un('2026-11-01', 'DELISTED', { acceptShrink: true })).outcome, 'taken');
});

test('an import by hand counts as retrieved when it is imported, and bears the day of its files', async () => {
  const file = unFile(unIndividual(1, 'OLD'), 'dateGenerated="2024-01-02T23:00:03.110Z"');
  await write('un-sc-consolidated', { 'consolidated.xml': file });
  const before = Date.now() + ahead;
  await post('un-sc-consolidated', 'import', { directory: folder, acceptShrink: true });
  const { freshness, edition } = (await stateOf('un-sc-consolidated')) ?? {};
  assert.equal([freshness, edition?.fileDate], ['fresh', '2024-01-02T23:00:03.110Z']);
  assert.ok(Date.parse(edition?.retrievedAt ?? '') >= before);
});

test('an edition that lost its addresses, or its names in original script, is refused though it has as many names', async () => {
  const rows = Array.from({ length: 80 }, (_, i) => {
    const remarks = i < 10 ? `Digital Currency Address - ETH 0x${String(i).padStart(40, '0')};` : undefined;
    return ofacRow(i + 1, `COMPANY ${i + 1}`, remarks === undefined ? {} : { remarks });
  });
  await write(SDN, ofacFiles(rows, NO_COMPANIONS));
  assert.is((await post(SDN, 'import', { directory: folder })).outcome, 'taken');
  const relabelled = rows.map((row) => row.replace('Currency Address - ', 'Currency Address: '));
  await write(SDN, ofacFiles(relabelled, NO_COMPANIONS));
  const refused = await post(SDN, 'import', { directory: folder });
  assert.equal([refused.outcome, refused.code], ['refused', 'shrank']);
  assert.match(refused.detail ?? '', '0 addresses; the edition in force has 80 entries, 80 names');
  const accepted = await post(SDN, 'import', { directory: folder, acceptShrink: true });
  assert.is(accepted.outcome, 'taken');
  const people = (tag: string) =>
    Array.from({ length: 40 }, (_, i) =>
      unIndividual(i + 1, `NAME ${i + 1}`, i < 3 ? `<${tag}>اسم ${i}</${tag}>` : ''),
    ).join('');
  await write('un-sc-consolidated', { 'consolidated.xml': unFile(people('NAME_ORIGINAL_SCRIPT')) });
  assert.is((await post('un-sc-consolidated', 'import', { directory: folder })).outcome, 'taken');
  await write('un-sc-consolidated', { 'consolidated.xml': unFile(people('NAME_OWN_SCRIPT')) });
  assert.is((await post('un-sc-consolidated', 'import', { directory: folder })).code, 'shrank');
});

test('of a few addresses one may go, and not all', async () => {
  const file = (count: number) => {
    const remarks = (i: number) =>
      i < count ? `Digital Currency Address - ETH 0x${String(i).padStart(40, '0')};` : 'none';
    return ofacFiles(
      Array.from({ length: 80 }, (_, i) => ofacRow(i + 1, `COMPANY ${i + 1}`, { remarks: remarks(i) })),
      NO_COMPANIONS,
    );
  };
  const taken = async (count: number, more: JsonObject = {}): Promise<string> => {
    await write(SDN, file(count));
    return (await post(SDN, 'import', { directory: folder, ...more })).outcome;
  };
  assert.equal([await taken(3, { acceptShrink: true }), await taken(2), await taken(0)], ['taken', 'taken', 'refused']);
});

test('a file of OFAC that is cut off between two rows is refused until the operator accepts it, at a first import too', async () => {
  const ofList = async (listId: ListId, [main, alt, add, comments]: readonly string[], isCut: boolean) => {
    const files = ofacEdition(100);
    const text = String(files['sdn.csv']);
    const end = isCut ? text.lastIndexOf('96,"COMPANY') : text.length;
    await write(listId, {
      [String(main)]: text.slice(0, end),
      [String(alt)]: String(files['alt.csv']),
      [String(add)]: String(files['add.csv']),
      [String(comments)]: String(files['sdn_comments.csv']),
    });
    return (more: JsonObject = {}) => post(listId, 'import', { directory: folder, ...more });
  };
  const sdn = ['sdn.csv', 'alt.csv', 'add.csv', 'sdn_comments.csv'];
  const consolidated = ['cons_prim.csv', 'cons_alt.csv', 'cons_add.csv', 'cons_comments.csv'];
  assert.is((await (await ofList(SDN, sdn, false))({ acceptShrink: true })).outcome, 'taken');
  const cases = [
    [SDN, sdn, 100],
    ['us-ofac-consolidated', consolidated, 2],
  ] as const;
  for (const [listId, names, inForce] of cases) {
    const take = await ofList(listId, names, true);
    const before = node.context.lists.current().get(listId);
    const refused = await take();
    assert.equal([refused.outcome, refused.code, refused.edition?.entryCount], ['refused', 'cut-off', inForce]);
    assert.match(refused.detail ?? '', `${names[0]} does not end with the end mark`);
    assert.equal(node.context.lists.current().get(listId), before);
    const accepted = await take({ acceptShrink: true });
    assert.equal([accepted.outcome, accepted.edition?.entryCount], ['taken', 95]);
  }
});

test('files of OFAC of different days are refused until the operator accepts them; how many rows have no entry is told', async () => {
  const rows = Array.from({ length: 2_000 }, (_, i) => ofacRow(i + 1, `COMPANY ${i + 1}`));
  const later = [
    '2001,1,"aka","LISTED SINCE",-0- ',
    '2001,2,"aka","LISTED TOO",-0- ',
    '2002,3,"aka","LISTED AS WELL",-0- ',
  ];
  const take = async (alt: readonly string[], more: JsonObject = {}): Promise<ListOutcome> => {
    await write(SDN, ofacFiles(rows, { ...NO_COMPANIONS, alt: ['1,1,"aka","FIRST COMPANY",-0- ', ...alt] }));
    return post(SDN, 'import', { directory: folder, ...more });
  };
  const few = await take(later.slice(0, 2));
  assert.equal([few.outcome, few.edition?.unmatchedRows], ['taken', 2]);
  const refused = await take(later);
  assert.equal([refused.outcome, refused.code, refused.edition?.unmatchedRows], ['refused', 'cut-off', 2]);
  assert.match(refused.detail ?? '', /^3 rows of its companion files belong to no entry.* --accept-shrink/);
  const accepted = await take(later, { acceptShrink: true });
  assert.equal([accepted.outcome, accepted.edition?.unmatchedRows], ['taken', 3]);
  assert.is((await stateOf(SDN))?.edition?.unmatchedRows, 3);
});

test('a companion file of OFAC without rows is refused at a first import, until the operator accepts it', async () => {
  await using first = await TestNetwork.start();
  const { lists } = first.node().context;
  const files = incoming(ofacFiles([ofacRow(1, 'ONE', { remarks: 'x'.repeat(1_000) })], NO_COMPANIONS));
  const take = (acceptShrink: boolean) =>
    lists.take(SDN, { files, origin: { kind: 'import', urls: [] }, acceptShrink });
  const error: unknown = await take(false).catch((thrown: unknown) => thrown);
  assert.match(String(error), /sdn_comments.csv has no rows, and the remarks of 1 entries are cut. --accept-shrink/);
  assert.is(lists.current().get(SDN), undefined);
  assert.is(await lists.kept(SDN), 0, 'nothing is left of it');
  assert.is((await take(true)).edition.entryCount, 1);
});

test('a node whose kept file is damaged finds that out; the list is missing until it is imported again', async () => {
  assert.is((await importEdition(100, { acceptShrink: true })).outcome, 'taken');
  const edition = node.context.lists.current().get(SDN);
  if (edition === undefined) throw new Error('it is not in force');
  const victim = join(node.context.lists.directoryOf(edition), 'sdn.csv.gz');
  await node.stop();
  await writeFile(victim, Buffer.alloc((await readFile(victim)).length));
  await node.start();
  const { searches, lists } = node.context;
  await searches.settled();
  assert.throws(() => searches.requireLists(), /us-ofac-sdn \(missing\)/);
  assert.equal([(await stateOf(SDN))?.freshness, (await stateOf(SDN))?.edition], ['damaged', null]);
  assert.is((await importEdition(80)).code, 'shrank', 'it is still compared with what was damaged');
  assert.equal([(await importEdition(100)).outcome, (await stateOf(SDN))?.freshness], ['unchanged', 'fresh']);
  assert.is((await lists.intact(SDN))?.fileHash, edition.fileHash);
});

test.run();
