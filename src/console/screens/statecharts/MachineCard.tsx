import type { ReactNode } from 'react';
import type { Chart as ChartData } from '../../../schema/chart.ts';
import { Scroller } from '../../design/Scroller.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { type Actors, countsOf } from '../../live-charts/actors.ts';
import { Chart } from '../../live-charts/Chart.tsx';
import { Dots } from '../../live-charts/Dots.tsx';
import type { Feed } from '../../live-charts/feed.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import css from './Statecharts.module.css';
import texts from './texts.json' with { type: 'json' };

/** A card for one machine with its actors. */

/** Wider charts take the place of two cards. */
const WIDE = 600;

/** Fits the chart into the width of its card; the screen of the machine shows it in a readable size. */
const sheetOf = ({ width, height }: ChartData) => ({
  aspectRatio: `${width} / ${height}`,
  width,
  maxWidth: '100%',
  marginInline: 'auto',
});

const noChoice = (): void => {};

export const MachineCard = (props: {
  name: string;
  /** Name of the machine in frames. */
  machine: string;
  to: string;
  chart: ChartData | undefined;
  states: number | undefined;
  feed: Feed | undefined;
  actors: Actors;
  children?: ReactNode;
}) => {
  const t = useTexts(texts);
  const { name, machine, chart, states, feed, actors } = props;
  const counts = countsOf(actors, machine);
  return (
    <li className={`card ${css.card}`} data-wide={(chart && chart.width > WIDE) || undefined}>
      <ScreenLink to={props.to} className={`inset ${css.cardLink}`}>
        <strong>
          <code>{name}</code>
        </strong>
      </ScreenLink>
      <span className="quiet number inset">
        {t('live', { count: counts.actors })}
        {states !== undefined && ` · ${t('states', { count: states })}`}
      </span>
      <Scroller label={t('card', { name })} className={css.cardChart}>
        {chart ? (
          <ScreenLink to={props.to} tabIndex={-1}>
            <div className="sheet" style={sheetOf(chart)}>
              <Chart chart={chart} label={t('card', { name })} counts={counts.states} />
              {feed && (
                <Dots chart={chart} feed={feed} machine={machine} chosen={undefined} onChoose={noChoice} />
              )}
            </div>
          </ScreenLink>
        ) : (
          props.children
        )}
      </Scroller>
    </li>
  );
};
