import { useMemo } from 'react';
import type { Chart as ChartData } from '../../schema/chart.ts';
import { useTexts } from '../i18n/locale.ts';
import { Chart } from './Chart.tsx';
import { litBy, nameIn } from './chart.ts';
import type { Moment } from './path.ts';
import texts from './texts.json' with { type: 'json' };

/** One actor in its chart at a moment: its states, its path, and the transition that it has just taken. */
export const ActorChart = (props: {
  chart: ChartData;
  machine: string;
  moment: Moment;
  chosen?: string | undefined;
  onChoose?: (path: string) => void;
}) => {
  const t = useTexts(texts);
  const { chart, machine, moment, chosen, onChoose } = props;
  const { states, passed, step } = moment;
  const lit = useMemo(() => litBy(chart, states), [chart, states]);
  const taken = step && nameIn(chart, step.transition);
  const shown = states.join(' ');
  return (
    <div data-testid={`${machine}-statechart`} data-state={shown}>
      <Chart
        chart={chart}
        label={t('inState', { name: machine, states: shown })}
        lit={lit}
        passed={passed}
        flash={taken && { ...taken, nonce: step.serial }}
        chosen={chosen}
        onChoose={onChoose}
      />
    </div>
  );
};
