import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ApiDocument } from '../fixtures/api-document.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { callsByFetch, callsByFunctions } from './written-calls.ts';

const HERE = import.meta.dirname;
const GENERATED = join(HERE, 'generated');
const DOCUMENT = join(GENERATED, 'openapi.json');
const isInstalled = existsSync(join(HERE, 'node_modules'));
const MAX_OUTPUT_BYTES = 16 << 20;

const execute = promisify(execFile);

/** Runs a program of the installed packages and returns what it said. Throws with that where it fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const path = join(HERE, 'node_modules', program);
  const options = { cwd: HERE, maxBuffer: MAX_OUTPUT_BYTES, env: { PATH: process.env.PATH, NO_COLOR: '1' } };
  try {
    const { stdout, stderr } = await execute(process.execPath, [path, ...args], options);
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = Object(error);
    throw new Error(`${program} failed: ${String(stdout)}${String(stderr)}`, { cause: error });
  }
}

if (isInstalled) {
  test.before(async () => {
    const network = await TestNetwork.start();
    const { text, body } = await network.node().get('/openapi.json', { key: null });
    await network[Symbol.asyncDispose]();
    await rm(GENERATED, { recursive: true, force: true });
    await mkdir(GENERATED, { recursive: true });
    const document = new ApiDocument(body);
    await writeFile(DOCUMENT, text);
    await writeFile(join(GENERATED, 'calls-by-fetch.ts'), callsByFetch(document));
    await writeFile(join(GENERATED, 'calls-by-functions.ts'), callsByFunctions(document));
  });

  test('generated types compile a call of every operation, and refuse what is not as described', async () => {
    await run('openapi-typescript/bin/cli.js', DOCUMENT, '-o', join(GENERATED, 'openapi-typescript.ts'));
    const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'];
    const written = ['-i', DOCUMENT, '-o', join(GENERATED, 'hey-api'), '--no-log-file', '-p', ...plugins];
    await run('@hey-api/openapi-ts/bin/run.js', ...written);
    await run('typescript/bin/tsc', '-p', HERE);
    const types = await readFile(join(GENERATED, 'openapi-typescript.ts'), 'utf8');
    const empty = types.match(/.*Record<string, never>.*/g) ?? [];
    assert.equal(
      empty.map((line) => line.split(' ')[2]),
      ['webhooks', '$defs'],
      'objects that take no member',
    );
    assert.not(/\bany\b(?![^\n]*\*\/)/.test(types.replaceAll(/\/\*[\s\S]*?\*\/|"[^"]*"/g, '')), 'a type of anything');
  });

  test('the linters say no errors', async () => {
    await run('@redocly/cli/bin/cli.js', 'lint', '--extends', 'recommended', DOCUMENT);
    await run('@stoplight/spectral-cli/dist/index.js', 'lint', '-r', join(HERE, 'spectral.yaml'), DOCUMENT);
  });
} else {
  console.log('SKIP: no generator and no linter reads the OpenAPI document: `npm run generators` installs them');
  test.skip('the generators take the document', () => undefined);
}

test.run();
