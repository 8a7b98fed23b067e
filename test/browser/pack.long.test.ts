import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { extractText, getDocumentProxy } from 'unpdf';
import { readContainer } from '../../protocol/pack/container.ts';
import { PACK_FILES } from '../../protocol/pack/manifest.ts';
import { sourceOf } from '../fixtures/judged-pack.ts';
import { askedPack, packFile } from '../fixtures/made-pack.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium, watch } from './chromium.ts';

const run = promisify(execFile);
const SOON_MS = 200;
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';
/** Of A4 within the margins that the page asks for, in CSS pixels. */
const PAPER = { width: Math.round((210 - 2 * 15) * (96 / 25.4)), height: 1_000 };
const NARROW = { width: 320, height: 640 };

const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: SOON_MS } });
const node = network.node();
const folder = await mkdtemp(join(tmpdir(), 'meridian-pack-'));
const browser = await launchChromium('no page of a pack of evidence was opened in a real one');
test.after(async () => {
  await browser?.close();
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A pack with something in every table, in its file and taken apart beside it. */
const from = new Date(Date.now() - 60_000).toISOString();
const decisions: string[] = [];
for (let i = 0; i < 40; i++) {
  decisions.push(await node.attest({ case: i }, { sourceId: i % 2 === 0 ? 'loans' : HOSTILE }));
}
const made = [
  await node.post('/v1/human-override', {
    sourceId: 'loans',
    originalAttestationId: decisions[0] ?? '',
    reviewerId: 'a person',
    reviewOutcome: 'overridden',
    reason: 'seen',
  }),
  await node.post('/v1/incident', {
    sourceId: 'loans',
    severity: 'serious',
    description: 'what happened',
    incidentPeriodStart: from,
  }),
  await node.post('/v1/retention-lock', { sourceId: 'loans', retentionPeriodDays: 1825, scope: 'all' }),
];
for (const { status, text } of made) assert.is(status, 200, text);
await node.seal();
const to = new Date(Date.now() + 1_000).toISOString();
const pack = await askedPack(node, { sources: ['loans', HOSTILE], from, to });
assert.is(pack.state, 'ready', JSON.stringify(pack));
const bytes = await packFile(node, String(pack.packId));
const zip = join(folder, 'pack.zip');
await writeFile(zip, bytes);
for (const { name, from: at, size } of await readContainer(sourceOf(bytes))) {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), bytes.subarray(at, at + size));
}

test('the file is a ZIP that others take as whole, where there is one', async () => {
  const tool = await run('unzip', ['-t', zip]).catch((error: unknown) => error);
  if (tool instanceof Error && 'code' in tool && tool.code === 'ENOENT') {
    console.log('SKIP: no unzip on PATH: the ZIP was read by our own reader alone');
    return;
  }
  assert.match(JSON.stringify(tool), /No errors detected/);
});

test('the PDF of a pack is read by another library, which finds every section and every table in it', async () => {
  const { text, totalPages } = await textOf(join(folder, PACK_FILES.report));
  assert.ok(totalPages > 3, `${totalPages} pages`);
  for (const heading of [
    'Scope',
    'Incidents and their clocks',
    'Reviews by people',
    'Continuity and gaps',
    'Erasures',
  ]) {
    assert.match(text, heading);
  }
  const squeezed = text.replace(/\s/g, '');
  for (const cell of ['overridden', '12(3)(a)', String(made[0]?.body.overrideId)]) assert.match(squeezed, cell);
});

if (browser !== null) {
  const page = pathToFileURL(join(folder, PACK_FILES.page)).href;

  test('the page of a pack opens from the disk with the network off, asks for nothing, and runs nothing', async () => {
    const context = await browser.newContext({ offline: true });
    const tab = await context.newPage();
    const seen = await watch(tab);
    await tab.goto(page);
    assert.equal(seen.requests, [page]);
    assert.equal(seen.faults, []);
    assert.is(await tab.locator('img, script').count(), 0);
    assert.match(await tab.locator('#scope').innerText(), 'Scope');
    assert.ok((await tab.locator('td').allInnerTexts()).some((cell) => cell.includes('<img src=x onerror=alert(1)>')));
    await context.close();
  });

  test('it has no accessibility fault, wide and narrow', async () => {
    for (const viewport of [{ width: 1_280, height: 800 }, NARROW]) {
      const context = await browser.newContext({ viewport });
      const tab = await context.newPage();
      await tab.goto(page);
      assert.equal(await accessibilityFaults(tab), []);
      const overflow = await tab.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      assert.is(overflow, 0, 'the page itself is not scrolled to the side');
      await context.close();
    }
  });

  test('it prints without a cut table: every cell is within the paper, and every text of it in the PDF', async () => {
    const context = await browser.newContext({ viewport: PAPER });
    const tab = await context.newPage();
    await tab.goto(page);
    await tab.emulateMedia({ media: 'print' });
    const beyond = await tab.evaluate(`[...document.querySelectorAll('th, td')].filter((cell) =>
      cell.getBoundingClientRect().right > innerWidth + 1 || cell.scrollWidth > cell.clientWidth + 1).length`);
    assert.is(beyond, 0);
    const printed = join(folder, 'printed.pdf');
    await tab.pdf({ path: printed, preferCSSPageSize: true });
    const { text } = await textOf(printed);
    const squeezed = text.replace(/\s/g, '');
    const cells = await tab.locator('td').allInnerTexts();
    const missing = cells.filter((cell) => !squeezed.includes(cell.replace(/[\s\u202e]/g, '').slice(0, 40)));
    assert.ok(cells.length > 500, `${cells.length} cells`);
    assert.equal(missing, []);
    await context.close();
  });

  test('the verifier that comes with it proves it, under the fingerprint', async () => {
    const context = await browser.newContext({ offline: true });
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(join(folder, PACK_FILES.verifierPage)).href);
    await tab.fill('#pin', node.context.keys.rosters.genesis);
    await tab.click('text=Check under this pin');
    await tab.setInputFiles('#files', zip);
    await tab.waitForSelector('.result');
    assert.match(await tab.locator('.result h2').innerText(), /^✔ Proven: a pack of 43 records/);
    await context.close();
  });
}

async function textOf(path: string): Promise<{ readonly text: string; readonly totalPages: number }> {
  const document = await getDocumentProxy(new Uint8Array(await readFile(path)));
  const { text, totalPages } = await extractText(document, { mergePages: true });
  return { text, totalPages };
}

test.run();
