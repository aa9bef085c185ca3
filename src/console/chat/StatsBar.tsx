import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './StatsBar.module.css';
import texts from './texts.json' with { type: 'json' };
import type { Stats } from './turn.ts';

export const StatsBar = ({ stats }: { stats: Stats }) => {
  const t = useTexts(texts);
  const format = useFormat();
  // Turns before the page was opened are not counted.
  const unknown = stats.lastTurnMs === undefined ? '—' : t('common.na');
  const rows: [string, string, string?][] = [
    [t('common.messages'), format.number(stats.messages)],
    [t('common.toolCalls'), format.number(stats.calls)],
    [t('stats.lastTurn'), stats.lastTurnMs === undefined ? '—' : format.duration(stats.lastTurnMs)],
    [
      t('stats.tokens'),
      stats.lastTurnMs === undefined ? '—' : format.compact(stats.inputTokens + stats.outputTokens),
      t('tokens', { input: format.number(stats.inputTokens), output: format.number(stats.outputTokens) }),
    ],
    [t('common.cost'), stats.costUsd === undefined ? unknown : format.usd(stats.costUsd)],
  ];
  return (
    <dl className={css.stats}>
      {rows.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
};
