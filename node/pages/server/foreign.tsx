import { shownText } from '../shown-text.ts';

/** A text of others, as text alone: what cannot be seen is shown as an escape, and it moves nothing around it. */
export function Foreign({ text }: { readonly text: string }) {
  return (
    <bdi dir="auto" class="foreign">
      {shownText(text)}
    </bdi>
  );
}

/** A hash or an id: in fixed width, and broken anywhere. */
export function Code({ text }: { readonly text: string }) {
  return (
    <code class="wrap">
      <Foreign text={text} />
    </code>
  );
}

/** A moment in UTC, to the second. */
export function Moment({ at }: { readonly at: string }) {
  return <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 19)} UTC`}</time>;
}
