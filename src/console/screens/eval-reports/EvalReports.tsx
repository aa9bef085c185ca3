import { useMemo } from 'react';
import { Button } from '../../design/Button.tsx';
import { Page } from '../../design/Layout.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Comparison } from '../../eval-results/Comparison.tsx';
import type { Side } from '../../eval-results/compare.ts';
import { useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { csvOf, markdownOf } from './export.ts';
import { FileZone } from './FileZone.tsx';
import { type Opened, useOpenFile } from './open.ts';
import texts from './texts.json' with { type: 'json' };

const useSide = (opened: Opened | undefined): Side | undefined => {
  const t = useTexts(texts);
  return useMemo(() => opened && { label: opened.name ?? t('pasted'), items: opened.items }, [opened, t]);
};

export default function EvalReports() {
  const t = useTexts(texts);
  const report = useOpenFile();
  const baseline = useOpenFile();
  const [after, before] = [useSide(report.opened), useSide(baseline.opened)];
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <div className="halves">
        <FileZone kind="report" {...report} />
        <FileZone kind="baseline" {...baseline} />
      </div>
      {after ? (
        <Comparison
          name="eval-report"
          after={after}
          before={before}
          actions={(results) => (
            <div>
              <Button
                small
                icon="download"
                onClick={() => download('eval-report.md', 'text/markdown', markdownOf(results))}
              >
                {t('export.markdown')}
              </Button>{' '}
              <Button
                small
                icon="download"
                onClick={() => download('eval-report.csv', 'text/csv', csvOf(results))}
              >
                {t('common.exportCsv')}
              </Button>
            </div>
          )}
        />
      ) : (
        <EmptyState title={t('empty.title')}>{t('empty.text')}</EmptyState>
      )}
    </Page>
  );
}
