import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['node', 'protocol', 'cluster', 'scripts', 'test'].map((top) => `${top}/**/*.ts`);
/** Pages that code cites by name and section. */
const CITED = /\b(api-rules|protocol|decisions) §(\d+(?:\.\d+)?)((?:, (?:and )?§\d+(?:\.\d+)?)*)/g;
/** Pages of the design that the repository does not hold. */
const ELSEWHERE = /\b(?:SPEC|DOMAIN|DESIGN|TRUST)(?:\.md)?(?: §|\.md\b)/g;
const LINK = /\]\(([^)\s]+)\)/g;
/** A path in code marks: of a folder, or of a file with an ending. */
const PATH = /`((?:node|protocol|cluster|scripts|test|docs)\/[\w./-]*)`/g;

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function pages(): string[] {
  return globSync(['*.md', '{docs,node,protocol,test}/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', 'test/generators/**'],
  }).sort();
}

function headingsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
}

/** As GitHub makes the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function sectionsOf(page: string): Set<string> {
  return new Set(headingsOf(page).flatMap((heading) => /^(\d+(?:\.\d+)?)\.? /.exec(heading)?.[1] ?? []));
}

test('every section that code or a page cites is there', () => {
  const sections = new Map(['api-rules', 'protocol', 'decisions'].map((name) => [name, sectionsOf(`docs/${name}.md`)]));
  const dead: string[] = [];
  let found = 0;
  for (const path of [...globSync(SOURCES, { cwd: ROOT, exclude: ['**/node_modules/**'] }), ...pages()]) {
    // Line breaks of a comment may stand within a citation.
    const text = textOf(path).replaceAll(/\n\s*(?:\*|\/\/) /g, ' ');
    for (const [cited, name = '', first = '', more = ''] of text.matchAll(CITED)) {
      for (const section of [first, ...[...more.matchAll(/§(\S+?)(?=,|$)/g)].map(([, each = '']) => each)]) {
        found++;
        if (sections.get(name)?.has(section) !== true) dead.push(`${path}: ${cited}`);
      }
    }
    for (const [cited] of text.matchAll(ELSEWHERE)) if (path !== 'test/docs.test.ts') dead.push(`${path}: ${cited}`);
  }
  assert.equal(dead, []);
  assert.ok(found > 100, `${found} citations`);
});

test('every link of a page leads to a file, and to a heading in it', () => {
  const dead: string[] = [];
  for (const page of pages()) {
    for (const [, link = ''] of textOf(page).matchAll(LINK)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(ROOT, target))) dead.push(`${page}: ${link}`);
      else if (anchor !== undefined && !headingsOf(target).map(anchorOf).includes(anchor)) {
        dead.push(`${page}: ${link}`);
      }
    }
  }
  assert.equal(dead, []);
});

test('every path that a page names is there', () => {
  const dead = pages().flatMap((page) =>
    [...textOf(page).matchAll(PATH)].flatMap(([, path = '']) =>
      existsSync(join(ROOT, path)) ? [] : `${page}: ${path}`,
    ),
  );
  assert.equal(dead, []);
});

test('the map names every folder of node/, and no file of a walk twice', () => {
  const map = textOf('docs/architecture.md');
  const folders = globSync('node/*/', { cwd: ROOT }).map((path) => `node/${path.split('/')[1]}/`);
  assert.equal(
    folders.filter((folder) => !map.includes(`| \`${folder}\` |`)),
    [],
  );
  const walks = map.split('## The life of ').slice(1);
  assert.is(walks.length, 5);
  for (const walk of walks) {
    const paths = [...walk.matchAll(PATH)].map(([, path]) => path);
    assert.equal(paths, [...new Set(paths)]);
    assert.ok(paths.length > 5);
  }
});

test.run();
