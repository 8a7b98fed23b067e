import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PROBLEM_KINDS } from '../../../../node/http/problem-codes.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { fingerprintWords } from '../../../../protocol/verdict/fingerprint-words.ts';
import { OPERATION_IDS } from '../../../fixtures/operation-ids.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';

const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const NOTHING = 'att_eu_01J0000000000000000000000A';
const WALLET = '0x1111111111111111111111111111111111111111';
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';

async function page(path: string, accept = BROWSER): Promise<Response & { readonly html: string }> {
  const answer = await fetch(node.baseUrl + path, { headers: { accept }, redirect: 'manual' });
  return Object.assign(answer, { html: await answer.text() });
}

const registered = await node.post('/v1/agents/register', {
  agentId: HOSTILE,
  displayName: 'd',
  jurisdiction: 'EU',
  permittedUses: ['u'],
});
const attested = await node.attest({ text: HOSTILE });
const PAGES = ['/', '/check', '/log', '/docs', `/v/${attested}`, `/v/${NOTHING}`, `/w/${WALLET}`, '/agents/none'];

test('every page is HTML, whole without a script, under a policy that lets nothing else in', async () => {
  for (const path of [...PAGES, '/problems/api-key-missing', '/verify/', '/verify/docs']) {
    const { status, headers, html } = await page(path);
    assert.is(status, path.includes(NOTHING) || path === '/agents/none' ? 404 : 200, `${path}: ${node.log.at(-1)}`);
    assert.is(headers.get('content-type'), 'text/html; charset=utf-8', path);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "trusted-types 'none'", "base-uri 'none'"]) {
      assert.ok(policy.includes(part), `${path}: ${part}`);
    }
    assert.not.ok(policy.includes('unsafe'), path);
    assert.match(html, /^<!doctype html><html lang="en">/, path);
    assert.match(html, /<h1>/, path);
    assert.not.match(html, /<script(?![^>]* src=)|\sstyle="|\son[a-z]+=/, path);
    assert.not.match(html, /(?:src|href)="(?:https?:)?\/\/(?!127\.0\.0\.1)/, path);
    assert.is(headers.get('referrer-policy'), 'no-referrer', path);
  }
});

test('the files of a page are where it says, of their type, kept for good, and compressed below 60 kB', async () => {
  const { html } = await page(`/v/${attested}`);
  const files = [...html.matchAll(/(?:src|href)="\.\.\/(pages\/[^"]+)"/g)].map(([, file = '']) => file);
  assert.is(files.length, 2);
  let bytes = html.length;
  for (const file of files) {
    const answer = await fetch(`${node.baseUrl}/${file}`, { headers: { 'accept-encoding': 'gzip' } });
    assert.is(answer.status, 200, file);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/(?:css|javascript); charset=utf-8$/);
    assert.match(answer.headers.get('cache-control') ?? '', /immutable/);
    bytes += Number(answer.headers.get('content-length'));
    await answer.arrayBuffer();
  }
  assert.ok(bytes < 60_000, `${bytes} bytes`);
  assert.is((await page('/pages/none.js')).status, 404);
  assert.is((await page('/pages/..%2fmanifest.json')).status, 404);
});

test('what strangers wrote is text, and nothing of it can be hidden', async () => {
  assert.is(registered.status, 200, registered.text);
  const { status, html } = await page(`/agents/${encodeURIComponent(HOSTILE)}`);
  assert.is(status, 200);
  assert.ok(html.includes('&lt;img src=x onerror=alert(1)>\\u{202e}'));
  assert.not.ok(html.includes('<img'));
  assert.not.ok((await page(`/v/${encodeURIComponent(HOSTILE)}`)).html.includes('<img'));
});

test('a problem is a page for who reads, and JSON for everybody else', async () => {
  for (const accept of ['*/*', 'application/json', '']) {
    const { headers, html } = await page('/problems/idempotency-conflict', accept);
    assert.match(headers.get('content-type') ?? '', /^application\/json/, accept);
    assert.is(JSON.parse(html).code, 'idempotency-conflict');
    assert.match(headers.get('vary') ?? '', /accept/i);
  }
  const { html } = await page('/problems/idempotency-conflict');
  assert.ok(html.includes(PROBLEM_KINDS['idempotency-conflict'].title));
});

test('the reference has every operation of the document, with its problems', async () => {
  const { html } = await page('/docs');
  for (const id of OPERATION_IDS) assert.ok(html.includes(`<details id="${id}"`), id);
  assert.ok(html.includes('../problems/') || html.includes('./problems/duplicate-attestation'));
  assert.match(html, /curl -X POST/);
});

test('the page of a record says what its node reports, and nothing that was not worked out', async () => {
  const { html } = await page(`/v/${attested}`);
  assert.match(html, /Reported by this node/);
  assert.match(html, /Signed, and not on the ledger yet/);
  assert.not.match(html, />\s*✔<\/span> Proven/);
  assert.match(html, /What this does not prove/);
  assert.match(html, /<svg class="qr"/);
  assert.ok(html.includes(`href="../v1/proofs/${attested}"`));
});

test('the first page tells the fingerprint of the federation in words too', async () => {
  const { html } = await page('/');
  const { genesis } = node.context.keys.rosters;
  assert.ok(html.includes(genesis));
  assert.ok(html.includes(fingerprintWords(nativeSuite, genesis).join(' ')));
});

test('the form of the first page leads to the record, wherever the page is mounted', async () => {
  const { status, headers } = await page(`/v?id=+${attested}+`);
  assert.equal([status, headers.get('location')], [303, `./v/${attested}`]);
  const moved = await page('/verify');
  assert.equal([moved.status, moved.headers.get('location')], [308, './verify/']);
});

test('what is sold is not shown, and what it costs is', async () => {
  const { html } = await page(`/w/${WALLET}`);
  assert.match(html, /0\.005 USD/);
  assert.is((await page('/w/none')).status, 404);
});

test.run();
