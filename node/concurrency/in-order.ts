/**
 * Work on what a source brings, begun ahead of who takes it, in the source's order: at most `ahead` items are read or
 * worked on beside the one that is taken. Throws what the source or the work throws, in its place.
 */
export async function* inOrder<Item, Done>(
  source: AsyncIterator<Item> | Iterator<Item>,
  work: (item: Item) => Promise<Done>,
  ahead: number,
): AsyncGenerator<Done> {
  const take = async (): Promise<IteratorResult<Done, undefined>> => {
    const read = await source.next();
    return read.done === true ? { done: true, value: undefined } : { done: false, value: await work(read.value) };
  };
  const begun: Promise<IteratorResult<Done, undefined>>[] = [];
  const begin = (): void => {
    const next = take();
    // It is told of when its turn comes; until then nobody awaits it.
    next.catch(() => {});
    begun.push(next);
  };
  try {
    for (let i = 0; i <= ahead; i++) begin();
    for (let next = await begun.shift(); next?.done === false; next = await begun.shift()) {
      begin();
      yield next.value;
    }
  } finally {
    await source.return?.();
    await Promise.allSettled(begun);
  }
}
