import { redact } from '../data/redaction.ts';
import { Button } from '../design/Button.tsx';
import type { IconName } from '../design/Icon.tsx';
import { toastError } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { download } from './download.ts';
import css from './List.module.css';
import listTexts from './texts.json' with { type: 'json' };

export type BulkAction<Row> = {
  label: string;
  icon?: IconName;
  tone?: 'danger';
  run: (rows: readonly Row[]) => void;
};

export const BulkBar = <Row,>(props: {
  name: string;
  rows: readonly Row[];
  actions: readonly BulkAction<Row>[];
  exported: ((rows: readonly Row[]) => Promise<unknown>) | undefined;
  onClear: () => void;
}) => {
  const t = useTexts(listTexts);
  const { name, rows, exported } = props;
  const save = async (): Promise<void> => {
    const content = redact(exported ? await exported(rows) : rows);
    download(`${name}.json`, 'application/json', JSON.stringify(content, null, 2));
  };
  return (
    <div className={`row ${css.bulk}`}>
      <strong>{t('selected', { count: rows.length })}</strong>
      <span className={css.push} />
      {props.actions.map(({ label, icon, tone, run }) => (
        <Button key={label} small icon={icon ?? 'dot'} tone={tone} onClick={() => run(rows)}>
          {label}
        </Button>
      ))}
      <Button small icon="download" onClick={() => void save().catch(toastError)}>
        {t('common.exportJson')}
      </Button>
      <Button small tone="quiet" onClick={props.onClear}>
        {t('clearSelection')}
      </Button>
    </div>
  );
};
