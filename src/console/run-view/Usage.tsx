import { addUsd } from '../../schema/usd.ts';
import { EmptyState } from '../design/Notice.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './RunView.module.css';
import type { Span } from './span.ts';
import { texts } from './texts.ts';
import { type ModelUsage, usageOf } from './usage.ts';

/** @param costUsd cost of the run, which includes interrupted attempts */
export const Usage = (props: { spans: readonly Span[]; costUsd: number | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const models = usageOf(props.spans);
  if (models.length === 0) return <EmptyState title={t('usage.none')} />;
  const sum = (of: 'inferences' | 'input' | 'output'): number =>
    models.reduce((before, each) => before + each[of], 0);
  const total: ModelUsage = {
    model: t('usage.total'),
    inferences: sum('inferences'),
    input: sum('input'),
    output: sum('output'),
    cost: props.costUsd ?? models.map(({ cost }) => cost).reduce(addUsd, undefined),
  };
  return (
    <>
      <table className={css.usage}>
        <thead>
          <tr>
            {(['model', 'inferences', 'input', 'output', 'cost'] as const).map((each) => (
              <th key={each} scope="col">
                {t(`usage.${each}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...models, ...(models.length > 1 || total.cost !== models[0]?.cost ? [total] : [])].map(
            (each) => (
              <tr key={each.model}>
                <td>{each === total ? each.model : <code>{each.model}</code>}</td>
                <td>{format.number(each.inferences)}</td>
                <td>{format.number(each.input)}</td>
                <td>{format.number(each.output)}</td>
                <td>{each.cost === undefined ? '—' : format.usd(each.cost)}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
      <p className={css.quiet}>{t('usage.children')}</p>
    </>
  );
};
