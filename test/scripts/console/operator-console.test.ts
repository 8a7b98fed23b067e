import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { consoleCommand } from '../../../scripts/console/command.ts';
import { OperatorConsole } from '../../../scripts/console/operator-console.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const network = await TestNetwork.start({ nodes: ['eu', 'us'] });
const node = network.node('eu');
const console_ = await OperatorConsole.start({ node: 'eu', socket: join(node.config.home, 'operator.sock') });
test.after(async () => {
  await console_[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
});

// One that ends soon, among those that do not, or are meant to.
for (const [name, days] of [
  ['loader of the month', 20],
  ['loader of the year', 300],
  ['of an afternoon', 0.5],
] as const) {
  const expiresAt = new Date(Date.now() + days * 86_400_000).toISOString();
  const made = await node.post('/v1/keys', { preset: 'ingest', name, expiresAt });
  assert.is(made.status, 200, made.text);
}

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers, redirect: 'manual' });

test('the link lets one browser in, once, and nobody else sees anything', async () => {
  const { link, baseUrl } = console_;
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/enter\/[\w-]{43}$/);
  assert.is((await get(`${baseUrl}/`)).status, 403);
  assert.is((await get(`${baseUrl}/enter/${'A'.repeat(43)}`)).status, 403);
  const entered = await get(link);
  assert.is(entered.status, 303);
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
  assert.match(entered.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Strict$/);
  assert.is((await get(link)).status, 403, 'it works once');
  const screen = await get(`${baseUrl}/`, { cookie });
  const html = await screen.text();
  assert.is(screen.status, 200, html);
  assert.match(html, 'loader of the month');
  for (const title of ['Members', 'Checkpoints', 'Official lists', 'Signing keys', 'Storage and payments']) {
    assert.match(html, title);
  }
  assert.match(html, /data-field="anchoring\.lagSeconds" value="\d+"/);
  assert.not.match(html, /of the year|of an afternoon/);
  assert.match(html, /data-field="head\.batch"/);
  const style = /href="\.\/(pages\/style[^"]+)"/.exec(html)?.[1] ?? '';
  assert.is((await get(`${baseUrl}/${style}`)).status, 200);
});

test('a name that leads to it is not it', async () => {
  const { port } = new URL(console_.baseUrl);
  const { request } = await import('node:http');
  const status = await new Promise((resolve) => {
    const headers = { host: `rebound.example:${port}` };
    request({ port, host: '127.0.0.1', path: '/', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  assert.is(status, 403);
});

test('the command ends with 2 where no node runs, and shows the link to one that does', async () => {
  const absent = join(node.config.home, 'none');
  assert.equal(await said('--home', absent), {
    code: 2,
    out: [],
    err: [`console: ${absent}: the node does not run; --help says more`],
  });
  const { code, out, err } = await said('--home', node.config.home);
  assert.equal([code, err], [0, []]);
  assert.match(out.join('\n'), /http:\/\/127\.0\.0\.1:\d+\/enter\//);
});

/** What the command says that is ended as soon as it serves. */
async function said(...args: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  return { code: await consoleCommand(args, terminal, AbortSignal.abort()), out, err };
}

test.run();
