import { useMemo, useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Field } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { compareItems, resultsOf, toolUseOf, totalsOf } from '../../evals/compare.ts';
import { Results } from '../../evals/Results.tsx';
import type { Item } from '../../evals/report.ts';
import { FailureKinds, Summary, ToolUses } from '../../evals/Summary.tsx';
import { Verdict } from '../../evals/Verdict.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import css from './EvalReports.module.css';
import { csvOf, markdownOf } from './export.ts';
import { FileZone } from './FileZone.tsx';
import { type Opened, useOpenFile } from './open.ts';
import { texts } from './texts.ts';

type Rates = { input: number; output: number };

const USUAL: Rates = { input: 3, output: 15 };

/** What a result costs where it does not say so itself. */
const priced = (items: readonly Item[], { input, output }: Rates): Item[] =>
  items.map((item) => {
    const { report } = item;
    if (report.cost_usd !== undefined) return item;
    const cost = (report.total_input_tokens * input + report.total_output_tokens * output) / 1e6;
    return { ...item, report: { ...report, cost_usd: cost } };
  });

const Rate = (props: { label: string; value: number; onChange: (value: number) => void }) => (
  <Field label={props.label}>
    {(control) => (
      <input
        {...control}
        type="number"
        min={0}
        step={0.1}
        value={props.value}
        onChange={({ target }) => props.onChange(Math.max(0, Number(target.value) || 0))}
      />
    )}
  </Field>
);

const Read = ({ report, baseline }: { report: Opened; baseline: Opened | undefined }) => {
  const t = useTexts(texts);
  const [rates, setRates] = useState(USUAL);
  const isEstimate = report.items.some((item) => item.report.cost_usd === undefined);
  const items = useMemo(() => priced(report.items, rates), [report, rates]);
  const entries = useMemo(() => baseline && compareItems(report.items, baseline.items), [report, baseline]);
  const results = useMemo(() => resultsOf(items, entries, baseline?.items), [items, entries, baseline]);
  const totals = useMemo(() => totalsOf(items), [items]);
  const uses = useMemo(() => toolUseOf(items), [items]);
  const save = (kind: 'md' | 'csv'): void =>
    download(
      `eval-report.${kind}`,
      kind === 'md' ? 'text/markdown' : 'text/csv',
      kind === 'md' ? markdownOf(results, totals) : csvOf(results),
    );
  return (
    <>
      {entries && <Verdict entries={entries} />}
      <Summary totals={totals} isEstimate={isEstimate} />
      {isEstimate && (
        <fieldset className={css.rates}>
          <legend>{t('rates')}</legend>
          <Rate
            label={t('rates.input')}
            value={rates.input}
            onChange={(input) => setRates({ ...rates, input })}
          />
          <Rate
            label={t('rates.output')}
            value={rates.output}
            onChange={(output) => setRates({ ...rates, output })}
          />
        </fieldset>
      )}
      <div>
        <Button small icon="download" onClick={() => save('md')}>
          {t('export.markdown')}
        </Button>{' '}
        <Button small icon="download" onClick={() => save('csv')}>
          {t('export.csv')}
        </Button>
      </div>
      <Results name="eval-report" results={results} isCompared={entries !== undefined} />
      <div className={css.columns}>
        <FailureKinds failures={totals.failures} />
        <ToolUses uses={uses} />
      </div>
    </>
  );
};

export default function EvalReports() {
  const t = useTexts(texts);
  const report = useOpenFile();
  const baseline = useOpenFile();
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <div className={css.zones}>
        <FileZone kind="report" {...report} />
        <FileZone kind="baseline" {...baseline} />
      </div>
      {report.opened ? (
        <Read report={report.opened} baseline={baseline.opened} />
      ) : (
        <EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>
      )}
    </Page>
  );
}
