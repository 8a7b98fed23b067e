// What the language has since Node 21 and the verifier uses; the file for any Node from 20 on begins with it.
if (!('groupBy' in Map)) Object.defineProperty(Map, 'groupBy', { value: groupBy, writable: true, configurable: true });

/** `Map.groupBy` (ECMA-262 §24.1.2.1). */
function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
