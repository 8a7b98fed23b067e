import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ListError } from '../../../../../node/screening/lists/list-error.ts';
import { listSourceTable } from '../../../../../node/screening/lists/list-tables.ts';
import { ListUpdates } from '../../../../../node/screening/lists/update/list-updates.ts';
import { type FileContents, ofacEdition } from '../../../../fixtures/lists/list-files.ts';
import { TestNetwork } from '../../../../fixtures/test-network.ts';
import { until } from '../../../../fixtures/until.ts';

const SDN = 'us-ofac-sdn';
const HOUR_MS = 3_600_000;
/** Longest wait of the node for an answer, and for each piece of one, in these tests. In milliseconds. */
const ANSWER_MS = 400;

type Behaviour = (request: IncomingMessage, response: ServerResponse, name: string) => void;

let contents: FileContents = ofacEdition(50);
let behave: Behaviour | undefined;
let asked: { readonly name: string; readonly etag: string | undefined; readonly status: number }[] = [];

/** A source as a publisher runs it: it knows what a caller has. */
const server = createServer((request, response) => {
  const name = (request.url ?? '').split('?')[0]?.slice(1) ?? '';
  response.on('close', () => {
    asked.push({ name, etag: request.headers['if-none-match'], status: response.statusCode });
  });
  if (behave === undefined) answer(request, response, name);
  else behave(request, response, name);
});
server.listen(0, '127.0.0.1');
await new Promise<void>((resolve) => server.once('listening', resolve));
// A port of a listening server is an address.
const { port } = server.address() as AddressInfo;
const origin = `http://127.0.0.1:${port}`;

function answer(request: IncomingMessage, response: ServerResponse, name: string): void {
  const content = String(contents[name] ?? '');
  const etag = `"${content.length}-${content.slice(0, 12).replaceAll(/\W/g, '')}"`;
  if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { etag, 'last-modified': 'Sat, 21 Nov 2026 08:00:00 GMT' }).end(content);
}

let ahead = 0;
const now = (): number => Date.now() + ahead;
const network = await TestNetwork.start({ overrides: { now } });
const { context } = network.node();
const names = ['sdn.csv', 'alt.csv', 'add.csv', 'sdn_comments.csv'];
const sources = new Map([[SDN, new Map(names.map((name) => [name, `${origin}/${name}?token=secret`]))]] as const);
const options = { ...context, log: pino({ level: 'silent' }), now, answerMs: ANSWER_MS };
const updates = new ListUpdates({ ...options, config: { sources, intervalMs: 6 * HOUR_MS } });
test.after(async () => {
  await updates[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});
test.before.each(() => {
  behave = undefined;
  asked = [];
});

/** Why an update was refused; the edition in force is still there, and the reason is kept without the token. */
async function refusalOf(behaviour: Behaviour): Promise<string> {
  behave = behaviour;
  const before = context.lists.current().get(SDN);
  const error: unknown = await updates.update(SDN).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ListError)) throw new Error(`it was not refused: ${String(error)}`);
  assert.equal(context.lists.current().get(SDN), before);
  const { failure } = (await listSourceTable.get(context.store, SDN)) ?? {};
  assert.match(failure ?? '', error.code);
  assert.not.match(`${failure} ${error.message}`, 'secret');
  return `${error.code}: ${error.message}`;
}

test('the first look downloads all files', async () => {
  const { unchanged, edition } = await updates.update(SDN);
  assert.equal([unchanged, edition.entryCount, edition.sample], [false, 50, false]);
  assert.equal(
    asked.map(({ status }) => status),
    [200, 200, 200, 200],
  );
});

test('a look that finds nothing new sends what it knows, and moves the time of retrieval', async () => {
  const before = context.lists.current().get(SDN);
  ahead += 60_000;
  const { unchanged, edition } = await updates.update(SDN);
  assert.equal([unchanged, edition.fileHash], [true, before?.fileHash]);
  assert.ok(edition.retrievedAt > (before?.retrievedAt ?? ''));
  assert.equal(
    asked.map(({ status }) => status),
    [304, 304, 304, 304],
  );
});

test('of a change in one file, that file alone is sent; the others are the kept ones', async () => {
  contents = { ...contents, 'alt.csv': '1,1,"aka","NEW ALIAS",-0- \r\n\u001a' };
  const { unchanged, edition } = await updates.update(SDN);
  assert.equal([unchanged, edition.nameCount], [false, 51]);
  assert.equal(
    asked.filter(({ status }) => status === 200).map(({ name }) => name),
    ['alt.csv'],
  );
});

test('after an import by hand nothing is assumed of what the source has', async () => {
  const files = Object.entries(ofacEdition(60)).map(([name, text]) => ({
    name,
    bytes: async function* () {
      yield Buffer.from(String(text));
    },
  }));
  await context.lists.take(SDN, { files, origin: { kind: 'import', urls: [] } });
  contents = ofacEdition(60);
  await updates.update(SDN);
  assert.equal(
    asked.map(({ status, etag }) => [status, etag]),
    names.map(() => [200, undefined]),
  );
});

test('a source at another address is read whole, and so is one of which a release before kept no address', async () => {
  contents = ofacEdition(62);
  await updates.update(SDN);
  const etags = async (of: ListUpdates) => {
    asked = [];
    await of.update(SDN);
    return asked.map(({ status, etag }) => [status, etag === undefined]);
  };
  const whole = names.map(() => [200, true]);
  const moved = new Map([[SDN, new Map(names.map((name) => [name, `${origin}/${name}?token=other`]))]] as const);
  await using other = new ListUpdates({ ...options, config: { sources: moved, intervalMs: 6 * HOUR_MS } });
  assert.equal(await etags(other), whole);
  const row = await listSourceTable.get(context.store, SDN);
  if (row === undefined) throw new Error('the look is not kept');
  const validators = row.validators.map(({ name, etag, lastModified }) => ({ name, etag, lastModified }));
  await context.store.write([listSourceTable.put([SDN], { ...row, validators })]);
  assert.equal(await etags(other), whole);
  assert.equal(
    await etags(other),
    names.map(() => [304, false]),
  );
});

test('a list whose kept files are damaged is fetched whole, before its turn', async () => {
  contents = ofacEdition(63);
  const { edition } = await updates.update(SDN);
  const victim = join(context.lists.directoryOf(edition), 'sdn.csv.gz');
  const whole = await readFile(victim);
  await writeFile(victim, Buffer.alloc(whole.length));
  asked = [];
  const { unchanged } = await updates.update(SDN);
  assert.equal(
    asked.map(({ status, etag }) => [status, etag]),
    names.map(() => [200, undefined]),
  );
  assert.ok(unchanged);
  assert.equal(await readFile(victim), whole);
  await rm(victim);
  assert.is(await context.lists.intact(SDN), undefined);
  ahead += HOUR_MS;
  await using due = new ListUpdates({ ...options, config: { sources, intervalMs: 6 * HOUR_MS } });
  due.start();
  await until('it is there again', () => context.lists.current().get(SDN)?.fileHash === edition.fileHash);
  assert.equal(await readFile(victim), whole);
});

test('an edition that shrank is refused, and taken once it is accepted', async () => {
  contents = ofacEdition(30);
  assert.match(await refusalOf(answer), /^shrank: it has 30 entries/);
  assert.is((await updates.update(SDN, true)).edition.entryCount, 30);
});

test('a page, an error, an empty body, and a redirect that leads nowhere good are refused', async () => {
  const page: Behaviour = (_, response) => void response.writeHead(200).end('<!DOCTYPE html><html>Sorry</html>');
  assert.match(await refusalOf(page), /^malformed/);
  assert.match(await refusalOf((_, response) => void response.writeHead(503).end()), /^download: .*503/);
  assert.match(await refusalOf((_, response) => void response.writeHead(200).end()), /^malformed: it has no entries/);
  for (const location of ['http://example.test/', 'file:///etc/passwd', 'https://example.test/', '//', '/again']) {
    const refusal = await refusalOf((_, response) => void response.writeHead(302, { location }).end());
    assert.match(refusal, /^download: .*lead/);
  }
});

test('a source that gives nothing to compare by, and says that nothing has changed, is not believed', async () => {
  contents = ofacEdition(31);
  behave = (_, response, name) => void response.writeHead(200).end(String(contents[name]));
  await updates.update(SDN);
  const refusal = await refusalOf((_, response) => void response.writeHead(304).end());
  assert.match(refusal, /^download: .* answers 304/);
});

test('a redirect on the same machine is followed', async () => {
  contents = ofacEdition(31);
  behave = (request, response, name) => {
    if (request.url?.endsWith('#moved') === true || name.startsWith('moved/')) {
      answer(request, response, name.replace('moved/', ''));
    } else response.writeHead(301, { location: `/moved/${name}` }).end();
  };
  assert.is((await updates.update(SDN)).edition.entryCount, 31);
});

test('a body that is cut off, that stops coming, or that never begins, is given up', async () => {
  contents = ofacEdition(32);
  const cut: Behaviour = (_, response, name) => {
    const text = String(contents[name]);
    response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, -20));
    setTimeout(() => response.destroy(), 20);
  };
  assert.match(await refusalOf(cut), /^download/);
  const stops: Behaviour = (_, response, name) => {
    response.writeHead(200).write(String(contents[name]).slice(0, 5));
  };
  assert.match(await refusalOf(stops), /^download: .*sends nothing more/);
  assert.match(await refusalOf(() => undefined), /^download: .*does not answer/);
});

test('a body without end is given up at the bound of a file', async () => {
  const piece = Buffer.alloc(1 << 20, 0x41);
  const endless: Behaviour = (_, response) => {
    response.writeHead(200);
    const send = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', send);
    send();
  };
  assert.match(await refusalOf(endless), /^too-large/);
});

test('a list without a source is refused', async () => {
  const error: unknown = await (async () => updates.update('eu-consolidated'))().catch((thrown: unknown) => thrown);
  assert.match(String(error), 'no source');
});

test('on schedule a list is looked at when it is due, and not before', async () => {
  contents = ofacEdition(33);
  await updates.update(SDN);
  contents = ofacEdition(34);
  const early = new ListUpdates({ ...options, config: { sources, intervalMs: 6 * HOUR_MS } });
  early.start();
  await sleep(200);
  await early[Symbol.asyncDispose]();
  assert.is(context.lists.current().get(SDN)?.entryCount, 33);
  ahead += 6 * HOUR_MS;
  const due = new ListUpdates({ ...options, config: { sources, intervalMs: 6 * HOUR_MS } });
  due.start();
  await until('the list is updated', () => context.lists.current().get(SDN)?.entryCount === 34);
  await due[Symbol.asyncDispose]();
});

test('a look that failed while the clock was ahead does not put off the next one', async () => {
  ahead += 300 * 24 * HOUR_MS;
  await refusalOf((_request, response) => response.writeHead(503).end());
  ahead -= 300 * 24 * HOUR_MS;
  behave = undefined;
  contents = ofacEdition(35);
  await using right = new ListUpdates({ ...options, config: { sources, intervalMs: 6 * HOUR_MS } });
  right.start();
  await until('the list is updated', () => context.lists.current().get(SDN)?.entryCount === 35, 5_000);
});

test('disposed in the middle of a download, it gives up at once', async () => {
  ahead += 6 * HOUR_MS;
  behave = () => undefined;
  const slow = new ListUpdates({ ...options, answerMs: 60_000, config: { sources, intervalMs: HOUR_MS } });
  slow.start();
  await sleep(100);
  const started = performance.now();
  await slow[Symbol.asyncDispose]();
  assert.ok(performance.now() - started < 5_000);
});

test.run();
