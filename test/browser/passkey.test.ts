import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestMailSink } from '../fixtures/mail-sink.ts';
import { API_KEYS } from '../fixtures/test-node.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { accessibilityFaults } from './axe.ts';
import { launchChromium, watch } from './chromium.ts';

const EMAIL = 'grace@example.org';
const NARROW = { width: 320, height: 640 };

const browser = await launchChromium('no passkey was made in a real one');
if (browser !== null) {
  const sink = await TestMailSink.start();
  // Passkeys work at a name alone.
  const network = await TestNetwork.start({ host: 'localhost', config: { mail: sink.config } });
  const node = network.node();
  test.after(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
  });

  const linkTo = async (email: string): Promise<string> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    await fetch(`${node.baseUrl}/console/mail`, { method: 'POST', headers, body: new URLSearchParams({ email }) });
    const { text } = await sink.waitForMail(email);
    const [, link = ''] = /^(http:\/\/localhost:\d+\S*\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
    assert.is.not(link, '', text);
    return link;
  };

  test('a person adds a passkey, signs in with it, and takes it away with it; a link alone is not enough', async () => {
    const asked = { email: EMAIL, role: 'compliance' };
    const invited = await node.post('/v1/people', asked, { key: API_KEYS.enterprise });
    assert.is(invited.status, 200, invited.text);
    await sink.waitForMail(EMAIL);
    const context = await browser.newContext({ viewport: NARROW });
    const page = await context.newPage();
    const seen = await watch(page);
    const devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport: 'internal', hasUserVerification: true, isUserVerified: true },
    });
    await page.goto(await linkTo(EMAIL));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Second factor' }).click();
    assert.equal(await accessibilityFaults(page), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= NARROW.width);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('● Done.').waitFor();
    assert.match(await page.locator('main').innerText(), /Recovery codes/);
    await sink.waitForMail(EMAIL);
    await page.getByRole('button', { name: 'Sign out' }).click();

    const link = await linkTo(EMAIL);
    await page.goto(link);
    assert.equal(await accessibilityFaults(page), []);
    assert.is(await page.getByRole('button', { name: 'Sign in' }).count(), 2, 'with the passkey, or with a code');
    await page.getByRole('button', { name: 'Sign in' }).first().click();
    await page.waitForURL(/\/console$/);
    const signIns = await node.get('/v1/sign-ins', { key: API_KEYS.enterprise });
    assert.match(signIns.text, /"secondFactor":"passkey"/);

    await page.getByRole('link', { name: 'Second factor' }).click();
    await page.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove it' }).first().click();
    await page.getByText('Nothing is shown beside the link').waitFor();
    await devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    assert.equal(seen.faults, []);
    await context.close();
  });
}

test.run();
