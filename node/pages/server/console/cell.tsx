import type { Cell } from '../../console-page.ts';
import type { Root } from '../../page.ts';
import { Code, Foreign, Moment } from '../foreign.tsx';

const MARKS = { good: '●', wait: '◐', bad: '▲', none: '○' } as const;

/** One value. Every number stands as `data`, under the API's name of it. */
export function CellView({ cell, root }: { readonly cell: Cell; readonly root: Root }) {
  switch (cell.kind) {
    case 'none':
      return <span class="none">none</span>;
    case 'text':
      return <Foreign text={cell.text} />;
    case 'code':
      return cell.href === undefined ? (
        <Code text={cell.text} />
      ) : (
        <a href={root + cell.href}>
          <Code text={cell.text} />
        </a>
      );
    case 'link':
      return (
        <a href={root + cell.href}>
          <Foreign text={cell.text} />
        </a>
      );
    case 'moment':
      return <Moment at={cell.at} />;
    case 'figure':
      return (
        <data class="number" data-field={cell.field} value={String(cell.value)}>
          {String(cell.value)}
        </data>
      );
    case 'state':
      return (
        <span class={cell.tone === 'none' ? '' : cell.tone}>
          {MARKS[cell.tone]} <Foreign text={cell.text} />
        </span>
      );
    case 'list':
      return (
        <>
          {cell.cells.map((one, i) => (
            <span key={i}>
              {i === 0 ? '' : ', '}
              <CellView cell={one} root={root} />
            </span>
          ))}
        </>
      );
  }
}
