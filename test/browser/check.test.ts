import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../protocol/json/value.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { fingerprintWords } from '../../protocol/verdict/fingerprint-words.ts';
import { verifierFiles } from '../../node/pages/verifier-files.ts';
import { bundleOf, rosterEntries } from '../fixtures/federation-log-bundle.ts';
import { FederationLog } from '../fixtures/federation-log.ts';
import { packedPeriod, packOf } from '../fixtures/judged-pack.ts';
import { falseCheckpoint, proofOf } from '../fixtures/misdeed-proof.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium, watch, type Watched } from './chromium.ts';

const NARROW = { width: 320, height: 640 };
const HOSTILE = '<img src=x onerror=alert(1)>\u202e\u0007';

const browser = await launchChromium('neither /check nor meridian-verify.html was opened in a real one');
if (browser !== null) {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-check-'));
  const network = await TestNetwork.start({ nodes: ['eu'] });
  const node = network.node('eu');
  test.after(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const page = (await verifierFiles()).find(({ name }) => name.endsWith('.html'));
  const file = join(folder, 'meridian-verify.html');
  await writeFile(file, page?.bytes ?? '');
  const log = await FederationLog.create();
  const sealed = await log.record('eu', [{}, {}, {}, {}]);
  const bundle = await bundleOf(log, sealed, 2, { disclosed: true });
  const good = JSON.stringify(bundle);
  const bad = good
    .replace('"kind":"decision"', '"kind":"incident"')
    .replace('\\"kind\\":\\"decision\\"', '\\"kind\\":\\"incident\\"');
  const early = JSON.stringify({ ...bundle, batch: null, decision: null });
  const few = JSON.stringify({ ...bundle, checkpoints: bundle.checkpoints.slice(0, 1) });
  const PLACES = [`${node.baseUrl}/check`, pathToFileURL(file).href];

  interface Open extends AsyncDisposable {
    readonly page: Page;
    readonly seen: Watched;
    /** Gives the page files, and waits for what it says of the last. */
    readonly drop: (...texts: readonly (readonly [name: string, text: string])[]) => Promise<void>;
  }

  const opened = async (url: string, options: Parameters<typeof browser.newContext>[0] = {}): Promise<Open> => {
    const context = await browser.newContext({ acceptDownloads: true, ...options });
    const tab = await context.newPage();
    const seen = await watch(tab);
    await tab.goto(url);
    await tab.waitForSelector('#files');
    const drop: Open['drop'] = async (...texts) => {
      const files = texts.map(([name, text]) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) }));
      await tab.setInputFiles('#files', files);
      await tab.waitForSelector(`.result[aria-label="${texts.at(-1)?.[0]}"]`);
    };
    return { page: tab, seen, drop, [Symbol.asyncDispose]: () => context.close() };
  };

  const headlines = async (tab: Page): Promise<readonly string[]> => tab.locator('.result h2').allInnerTexts();
  const pinBy = async (tab: Page, text: string): Promise<void> => {
    await tab.fill('#pin', text);
    await tab.click('text=Check under this pin');
    await tab.waitForFunction(() => document.getElementById('pin-form')?.textContent?.startsWith('sha') === false);
  };

  const period = await packedPeriod();
  const pack = Buffer.from(await packOf(period));
  const flipped = Buffer.from(pack);
  flipped[pack.indexOf('loans')] = 'L'.charCodeAt(0);
  const cut = Buffer.from(
    await packOf(period, {
      places: [[], [3], []],
      manifest: {
        question: { ...period.manifest.question, withholdsBefore: true },
        reach: [...period.manifest.reach, { node: period.log.member('us').node, seq: 5_000 }],
      },
    }),
  );
  const dropPack = async ({ page: tab }: Open, name: string, buffer: Buffer): Promise<void> => {
    await tab.setInputFiles('#files', [{ name, mimeType: 'application/zip', buffer }]);
    await tab.waitForSelector(`.result[aria-label="${name}"]`);
  };

  for (const url of PLACES) {
    const name = url.startsWith('file:') ? 'the file' : 'the page';

    test(`${name} tells the five states apart in words and in shape, and proves nothing without a pin`, async () => {
      await using open = await opened(url);
      await open.drop(['good.json', good]);
      assert.match((await headlines(open.page))[0] ?? '', /^◐ Consistent, and nothing pinned it/);
      await pinBy(open.page, log.genesis);
      const marked = `\ufeff${good}`;
      await open.drop(
        ['1.json', good],
        ['2.json', bad],
        ['3.json', early],
        ['4.json', few],
        ['5.json', '{}'],
        ['6.json', marked],
      );
      const said = await headlines(open.page);
      const states = [
        /^✔ Proven/,
        /^✕ Does not hold/,
        /^… Signed, and not on/,
        /^△ Too few/,
        /^✕ Cannot be read/,
        /^✕ Cannot be read/,
      ];
      for (const [i, state] of states.entries()) assert.match(said[i] ?? '', state);
      assert.equal(open.seen.faults, []);
    });

    test(`${name} proves a pack of evidence with the network off, and names a byte that was changed`, async () => {
      await using open = await opened(url);
      await open.page.waitForLoadState('networkidle');
      await open.page.context().setOffline(true);
      await dropPack(open, 'pack.zip', pack);
      assert.match((await headlines(open.page))[0] ?? '', /^◐ Consistent, and nothing pinned it: a pack of 6 records/);
      await pinBy(open.page, period.log.genesis);
      await dropPack(open, 'again.zip', pack);
      assert.match((await headlines(open.page))[0] ?? '', /^✔ Proven: a pack of 6 records/);
      await dropPack(open, 'flipped.zip', flipped);
      assert.match((await headlines(open.page))[0] ?? '', /^✕ Does not hold: a file in it was changed/);
      assert.match(await open.page.locator('.result').innerText(), /file-changed\s+records\.jsonl/);
      assert.equal(await accessibilityFaults(open.page), []);
      assert.equal(open.seen.faults, []);
    });

    test(`${name} says what a pack cannot show: where it begins and ends, and which source has nothing at which node`, async () => {
      await using open = await opened(url);
      await pinBy(open.page, period.log.genesis);
      await dropPack(open, 'cut.zip', cut);
      assert.match((await headlines(open.page))[0] ?? '', /^✔ Proven: a pack of 1 records/);
      await open.page.click('text=What this does not prove');
      const limits = await open.page.locator('.result details').innerText();
      assert.match(limits, 'that no record of the period came before the first one of 1 sequences');
      assert.match(limits, 'that no record followed the last one of 1 sequences');
      assert.match(limits, /no record of 1 sources that were asked for at their nodes and are empty here: loans at us/);
      await dropPack(open, 'whole.zip', pack);
      await open.page.click('text=What this does not prove');
      const whole = await open.page.locator('.result details').innerText();
      assert.not.match(whole, 'that no record of the period came before');
      assert.not.match(whole, 'are empty here');
    });

    test(`${name} asks for nothing once it is there, works with the network off, and saves what it found`, async () => {
      await using open = await opened(url);
      await open.page.waitForLoadState('networkidle');
      await open.page.context().setOffline(true);
      const before = open.seen.requests.length;
      await pinBy(open.page, fingerprintWords(nobleSuite, log.genesis).join(' '));
      await open.drop(['good.json', good]);
      assert.match((await headlines(open.page))[0] ?? '', /^✔ Proven/);
      const [download] = await Promise.all([
        open.page.waitForEvent('download'),
        open.page.click('text=Save the result as a file'),
      ]);
      const { results } = JSON.parse(await readFile(await download.path(), 'utf8'));
      assert.equal([results[0].file, results[0].state, results[0].verdict.word], ['good.json', 'proven', 'verified']);
      const asked = open.seen.requests.slice(before).filter((asking) => !asking.startsWith('blob:'));
      assert.equal(asked, []);
    });

    test(`${name} has no accessibility fault, in light, dark, narrow and on paper`, async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await using open = await opened(url, { colorScheme, viewport: NARROW });
        await open.drop(['good.json', good], ['bad.json', bad]);
        for (const details of await open.page.locator('details').all()) await details.locator('summary').click();
        assert.equal(await accessibilityFaults(open.page), [], colorScheme);
        const width = await open.page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= NARROW.width, `${width}`);
        await open.page.emulateMedia({ media: 'print' });
        assert.ok(await open.page.locator('.result h2').first().isVisible());
        assert.equal(open.seen.faults, []);
      }
    });
  }

  test('all of it can be done by the keyboard', async () => {
    await using open = await opened(PLACES[0] ?? '');
    const { page: tab } = open;
    const focusOn = async (id: string): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        await tab.keyboard.press('Tab');
        if (await tab.evaluate((wanted) => document.activeElement?.id === wanted, id)) return;
      }
      assert.unreachable(`${id} cannot be reached`);
    };
    await focusOn('pin');
    await tab.keyboard.type(log.genesis);
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('text=Pinned: sha256:');
    await focusOn('files');
    await open.drop(['good.json', good]);
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Enter');
    assert.ok((await tab.locator('.result details').first().getAttribute('open')) !== null, 'the content is unfolded');
  });

  test('WebCrypto and the code of the page come to the same, and each says which of them checked', async () => {
    const found: string[] = [];
    for (const isOff of [false, true]) {
      await using open = await opened(PLACES[1] ?? '');
      if (isOff) {
        await open.page.evaluate(() => {
          crypto.subtle.importKey = () => Promise.reject(new Error('not supported'));
        });
      }
      await pinBy(open.page, log.genesis);
      await open.drop(['1.json', good], ['2.json', bad], ['3.json', few]);
      const by = isOff ? 'noble' : 'WebCrypto';
      assert.match(await open.page.locator('.result').first().innerText(), new RegExp(`Signatures checked by ${by}`));
      const [download] = await Promise.all([
        open.page.waitForEvent('download'),
        open.page.click('text=Save the result'),
      ]);
      const { results } = JSON.parse(await readFile(await download.path(), 'utf8'));
      found.push(JSON.stringify(results.map(judgedOf)));
    }
    assert.is(found[0], found[1]);
  });

  test('what was recorded is shown as text, whatever it is, and so is the name of a file', async () => {
    const hostileLog = await FederationLog.create();
    const batch = await hostileLog.record('eu', [{ payload: { data: { output: HOSTILE } } }]);
    const shown = JSON.stringify(await bundleOf(hostileLog, batch, 0, { disclosed: true }));
    await using open = await opened(PLACES[0] ?? '');
    const files = [{ name: 'a<b>.json', mimeType: 'application/json', buffer: Buffer.from(shown) }];
    await open.page.setInputFiles('#files', files);
    await open.page.waitForSelector('.result');
    assert.is(await open.page.locator('.result img').count(), 0);
    assert.match(await open.page.locator('.result').innerText(), /a<b>\.json/);
    assert.equal(open.seen.faults, []);
  });

  test('rosters, a proof of misbehaviour and an export of a key-use log are taken too', async () => {
    const rosters = JSON.stringify(rosterEntries(log, []));
    const exported = await (
      await fetch(`${node.baseUrl}/v1/audit-log/export`, {
        headers: { 'x-api-key': 'mk_test_unmetered_00000000000000000000' },
      })
    ).text();
    await using open = await opened(PLACES[0] ?? '');
    await open.drop(
      ['rosters.json', rosters],
      ['log.jsonl', exported],
      ['cut.jsonl', exported.split('\n').toReversed().join('\n')],
    );
    const said = await headlines(open.page);
    assert.match(said[0] ?? '', /Rosters that join, up to version/);
    if (exported !== '') assert.match(said[1] ?? '', /A key-use log without a gap/);
    const misdeed = await misbehaviour();
    await pinBy(open.page, misdeed.pin);
    await open.drop(['proof.json', misdeed.text]);
    assert.match((await headlines(open.page))[0] ?? '', /^✔ Misbehaviour \(false-checkpoint\) by sg: proven/);
  });

  test('a file of rosters is a pin, and what is none is refused in words', async () => {
    await using open = await opened(PLACES[1] ?? '');
    const given = (text: string) => ({ name: 'rosters.json', mimeType: 'application/json', buffer: Buffer.from(text) });
    const rosters = JSON.stringify(rosterEntries(log, []));
    await open.page.setInputFiles('#rosters', given(`\ufeff${rosters}`));
    await open.page.waitForSelector('#pin-form:has-text("✕")');
    await open.page.setInputFiles('#rosters', given(rosters));
    await open.page.waitForSelector('text=Pinned: the last roster of rosters.json');
    await open.drop(['good.json', good]);
    assert.match((await headlines(open.page))[0] ?? '', /^✔ Proven/);
    await pinBy(open.page, 'word '.repeat(23));
    assert.match(await open.page.locator('#pin-form').innerText(), /^✕ a fingerprint is 24 words/);
  });
}

/** Without the time of the check. */
function judgedOf({ verdict }: { readonly verdict: JsonObject }): JsonObject {
  return { ...verdict, evidence: null };
}

async function misbehaviour(): Promise<{ readonly text: string; readonly pin: string }> {
  const log = await FederationLog.create({ quorum: 2 });
  await log.record('eu');
  const liar = await FederationLog.create({ quorum: 2 });
  await liar.record('eu', [{}, {}]);
  const proof = await proofOf(log, await falseCheckpoint(log, await liar.checkpoint('sg')));
  return { text: JSON.stringify(proof), pin: log.genesis };
}

test.run();
