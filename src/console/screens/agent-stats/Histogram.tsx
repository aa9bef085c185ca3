import { Scroller } from '../../design/Scroller.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './AgentStats.module.css';
import { type Bar, type Bucket, barsOf, placeOf } from './snapshot.ts';
import { texts } from './texts.ts';

/** How often an inference took how long: a distribution, never a course in time. */

const BAR = 64;
const TALL = 120;
const FOOT = 20;
/** For the names of the lines. */
const HEAD = 56;

const Table = ({ bars }: { bars: readonly Bar[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  return (
    <table className="visually-hidden">
      <caption>{t('latency')}</caption>
      <tbody>
        {bars.map(({ to, count }) => (
          <tr key={String(to)}>
            <th scope="row">
              {to === null ? t('latency.longer') : t('latency.upTo', { duration: format.duration(to) })}
            </th>
            <td>{count}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

export const Histogram = (props: {
  buckets: readonly Bucket[];
  lines: readonly { label: string; ms: number }[];
}) => {
  const format = useFormat();
  const t = useTexts(texts);
  const bars = barsOf(props.buckets);
  const width = bars.length * BAR;
  return (
    <div className={css.chart}>
      <Scroller label={t('latency')} className={css.scroller}>
        <svg viewBox={`0 ${-HEAD} ${width} ${HEAD + TALL + FOOT}`} role="presentation" aria-hidden="true">
          {bars.map((bar, index) => (
            <g key={String(bar.to)}>
              <rect
                x={index * BAR + 3}
                y={TALL - Math.max(1, bar.height * TALL)}
                width={BAR - 6}
                height={Math.max(1, bar.height * TALL)}
                rx="2"
                className={css.drawn}
              />
              {bar.count > 0 && (
                <text x={index * BAR + BAR / 2} y={TALL - bar.height * TALL - 4} className={css.count}>
                  {format.number(bar.count)}
                </text>
              )}
              <text x={(index + 1) * BAR} y={TALL + 13} className={css.axis}>
                {bar.to === null ? '∞' : format.duration(bar.to)}
              </text>
            </g>
          ))}
          <line x1="0" x2={width} y1={TALL} y2={TALL} className={css.ground} />
          {props.lines.map(({ label, ms }, index) => {
            const x = placeOf(bars, ms) * BAR;
            return (
              <g key={label}>
                <line x1={x} x2={x} y1={2 - HEAD + index * 12} y2={TALL} className={css.line} />
                <text x={x + 4} y={12 - HEAD + index * 12} className={css.mark}>
                  {label}
                </text>
              </g>
            );
          })}
        </svg>
      </Scroller>
      <Table bars={bars} />
    </div>
  );
};
