import { useMemo } from 'react';
import { Button } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { compareItems, resultsOf, toolUseOf, totalsOf } from '../../evals/compare.ts';
import { Results } from '../../evals/Results.tsx';
import { FailureKinds, Summary, ToolUses } from '../../evals/Summary.tsx';
import { Verdict } from '../../evals/Verdict.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import css from './EvalReports.module.css';
import { csvOf, markdownOf } from './export.ts';
import { FileZone } from './FileZone.tsx';
import { type Opened, useOpenFile } from './open.ts';
import { texts } from './texts.ts';

const Read = ({ report, baseline }: { report: Opened; baseline: Opened | undefined }) => {
  const t = useTexts(texts);
  const { items } = report;
  const entries = useMemo(() => baseline && compareItems(items, baseline.items), [items, baseline]);
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
      <Summary totals={totals} />
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
