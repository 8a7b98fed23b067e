import { readFile } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOCATOR_VARIABLES, HEAP_FLAGS } from '../../cluster/supervisor/parts.ts';

test('npm run node, the local cluster and the page of the operator tell the allocator and V8 the same', async () => {
  const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
  const { scripts } = JSON.parse(await read('package.json'));
  const page = await read('node/README.md');
  for (const [name, value] of Object.entries(ALLOCATOR_VARIABLES)) {
    assert.ok(scripts.node.split(' ').includes(`${name}=${value}`), scripts.node);
    assert.ok(page.includes(`\`${name}=${value}\``), name);
  }
  for (const flag of HEAP_FLAGS) {
    assert.ok(scripts.node.includes(` node ${flag} node/main.ts`), scripts.node);
    assert.ok(page.includes(`\`${flag}\``), flag);
  }
});

test.run();
