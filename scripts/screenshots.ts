// npm run screenshots: pictures of the pages into docs/pictures/, of a cluster that this command starts and ends.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { chromium } from 'playwright-core';
import { requireCommandLine } from '../node/config/command-line.ts';
import { fillCluster } from './bench/federation/filled-cluster.ts';

const USAGE = `npm run screenshots

Takes pictures of the pages of a node with Chromium, in light and in dark, into docs/pictures/.`;
/** Where Debian has it. */
const CHROMIUM = '/usr/bin/chromium';
const FOLDER = join(import.meta.dirname, '../docs/pictures');
const VIEW = { width: 960, height: 720 };
const RECORDS = 40;

requireCommandLine(USAGE, {});
if (!existsSync(CHROMIUM)) {
  console.error(`SKIP: no Chromium at ${CHROMIUM}: no picture was taken`);
  process.exit(1);
}
const home = await mkdtemp(join(tmpdir(), 'meridian-screenshots-'));
const signal = new AbortController().signal;
try {
  await using filled = await fillCluster(home, RECORDS, { say: (line) => console.log(line), signal });
  const { baseUrl } = filled.cluster.node(0);
  await takeAll(baseUrl, filled.ids[0] ?? '', filled.cluster.apiKey);
} finally {
  await rm(home, { recursive: true, force: true });
}
// The ledger SDK keeps a timer for some seconds; everything of ours is closed.
process.exit();

async function takeAll(baseUrl: string, id: string, apiKey: string): Promise<void> {
  const pictures = [
    ['front', '/', 'light', 'main'],
    ['record', `/v/${id}`, 'light', '#own-check .checks'],
    ['log', '/log', 'dark', 'main'],
    ['docs', '/docs#postAttest', 'light', '#search'],
    ['check', '/check', 'light', '#files'],
    ['console', '/console/sign-in', 'light', '[name=apiKey]'],
  ] as const;
  const proof = Buffer.from(await (await fetch(`${baseUrl}/v1/proofs/${id}`)).arrayBuffer());
  await mkdir(FOLDER, { recursive: true });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    for (const [name, path, colorScheme, shown] of pictures) {
      const page = await browser.newPage({ colorScheme, viewport: VIEW });
      await page.goto(baseUrl + path);
      await page.waitForSelector(shown);
      if (name === 'check') {
        await page.setInputFiles('#files', { name: `${id}.json`, mimeType: 'application/json', buffer: proof });
        await page.waitForSelector('.result');
      }
      if (name === 'console') {
        await page.fill('[name=apiKey]', apiKey);
        await page.click('button');
        await page.waitForSelector('.chart');
      }
      const file = join(FOLDER, `${name}.png`);
      await page.screenshot({ path: file });
      console.log(relative(process.cwd(), file));
      await page.close();
    }
  } finally {
    await browser.close();
  }
}
