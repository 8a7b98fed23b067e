import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorConsole } from '../../scripts/console/operator-console.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium, watch } from './chromium.ts';

const NARROW = { width: 320, height: 640 };

const browser = await launchChromium('no operator’s screens were opened in a real one');
if (browser !== null) {
  const network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local', config: { batchIntervalMs: 100 } });
  const node = network.node('eu');
  const operator = await OperatorConsole.start({ node: 'eu', socket: join(node.config.home, 'operator.sock') });
  test.after(async () => {
    await browser.close();
    await operator[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  test('an operator’s screens keep their policy, ask nobody else, fit a narrow screen and have no accessibility fault', async () => {
    await node.attest({ n: 1 });
    const page = await browser.newPage({ viewport: NARROW });
    const seen = await watch(page);
    await page.goto(operator.link);
    await page.getByRole('heading', { name: 'Members' }).waitFor();
    assert.equal(await accessibilityFaults(page), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= NARROW.width);
    for (const title of ['How long the ledger took for the last batches', 'Payments of the last days']) {
      assert.is(await page.getByRole('img', { name: title }).count(), 1, title);
    }
    assert.equal(seen.faults, []);
    assert.equal(
      seen.requests.filter((url) => !url.startsWith(operator.baseUrl) && !url.startsWith('data:')),
      [],
    );
  });
}

test.run();
