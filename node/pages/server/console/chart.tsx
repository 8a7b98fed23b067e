import type { ChartSection } from '../../console-page.ts';
import type { SectionProps } from './console.tsx';

const WIDTH = 720;
const HEIGHT = 120;
/** Between two bars, as a part of what one takes. */
const GAP = 0.2;

/** Bars for the eye, and the same values in a table for everybody. */
export function ChartView({ section, root, id }: SectionProps<ChartSection>) {
  const { title, json, member, field, axis, unit, points } = section;
  const most = Math.max(1, ...points.map(({ value }) => value));
  const step = WIDTH / Math.max(1, points.length);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: the table below has its values`}
      >
        {points.map(({ label, value }, i) => {
          const height = Math.round((value / most) * HEIGHT);
          return (
            <rect key={label} x={i * step} y={HEIGHT - height} width={step * (1 - GAP)} height={height}>
              <title>{`${label}: ${value} ${unit}`}</title>
            </rect>
          );
        })}
      </svg>
      <details class="figures">
        <summary>{`${title} as a table`}</summary>
        <table {...(json === null ? {} : { 'data-json': json })} data-member={member}>
          <thead>
            <tr>
              <th scope="col">{axis}</th>
              <th scope="col">{unit}</th>
            </tr>
          </thead>
          <tbody>
            {points.map(({ label, value }) => (
              <tr key={label}>
                <td>{label}</td>
                <td>
                  <data data-field={field} value={String(value)}>
                    {String(value)}
                  </data>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      {json === null ? null : (
        <p class="ways">
          <a href={`${root}${json.slice(1)}`}>{`${title} as JSON`}</a>
        </p>
      )}
    </section>
  );
}
