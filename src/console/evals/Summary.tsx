import { Card, Stat } from '../design/Layout.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import type { ToolUse, Totals } from './compare.ts';
import css from './Evals.module.css';
import { texts } from './texts.ts';

export const Summary = ({ totals }: { totals: Totals }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { items, passed, tokens, durationMs, cost } = totals;
  const failed = items - passed;
  return (
    <div className={css.totals}>
      <Stat label={t('total.items')} value={format.number(items)} />
      <Stat label={t('total.passed')} value={format.number(passed)} />
      <Stat label={t('total.failed')} value={format.number(failed)} tone={failed > 0 ? 'error' : undefined} />
      <Stat label={t('total.rate')} value={items === 0 ? '—' : format.percent(passed / items)} />
      <Stat
        label={t('total.tokens')}
        value={`${format.compact(tokens.input)} / ${format.compact(tokens.output)}`}
      />
      <Stat label={t('total.duration')} value={format.duration(durationMs)} />
      <Stat label={t('total.cost')} value={cost === undefined ? '—' : format.usd(cost)} />
    </div>
  );
};

export const FailureKinds = ({ failures }: { failures: ReadonlyMap<string, number> }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (failures.size === 0) return null;
  return (
    <Card title={t('failures.byKind')} flush>
      <table className={css.pairs}>
        <tbody>
          {Array.from(failures, ([kind, count]) => (
            <tr key={kind}>
              <td className={css.mono}>{kind}</td>
              <td data-number>{format.number(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
};

export const ToolUses = ({ uses }: { uses: readonly ToolUse[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  if (uses.length === 0) return null;
  return (
    <Card title={t('tools.title')} flush>
      <table className={css.pairs}>
        <thead>
          <tr>
            <th scope="col">{t('tools.agent')}</th>
            <th scope="col">{t('tools.tool')}</th>
            <th scope="col" data-number>
              {t('tools.calls')}
            </th>
            <th scope="col" data-number>
              {t('tools.failures')}
            </th>
            <th scope="col" data-number>
              {t('tools.fixtures')}
            </th>
          </tr>
        </thead>
        <tbody>
          {uses.map(({ agent, tool, calls, failures, fixtures }) => (
            <tr key={`${agent} ${tool}`}>
              <td>{agent || '—'}</td>
              <td className={css.mono}>{tool}</td>
              <td data-number>{format.number(calls)}</td>
              <td data-number>{format.number(failures)}</td>
              <td data-number>{format.number(fixtures)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
};
