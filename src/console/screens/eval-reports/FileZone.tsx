import { useState } from 'react';
import { IconButton } from '../../design/Button.tsx';
import { FileButton } from '../../design/FileButton.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './EvalReports.module.css';
import type { Opened } from './open.ts';
import texts from './texts.json' with { type: 'json' };

const MOST_ISSUES = 20;

const Issues = ({ opened }: { opened: Opened }) => {
  const t = useTexts(texts);
  const { issues } = opened;
  if (issues.length === 0) return null;
  return (
    <details className={css.issues} open>
      <summary>{t('issues', { count: issues.length })}</summary>
      <ul>
        {issues.slice(0, MOST_ISSUES).map(({ line, reason, why = '' }) => (
          <li key={line}>{t('issue.line', { line, reason: t(`issue.${reason}`, { why }) })}</li>
        ))}
        {issues.length > MOST_ISSUES && <li>{t('issue.more', { count: issues.length - MOST_ISSUES })}</li>}
      </ul>
    </details>
  );
};

/** An area for a file that can be dropped, selected or pasted as text. */
export const FileZone = (props: {
  kind: 'report' | 'baseline';
  opened: Opened | undefined;
  share: number | undefined;
  onFile: (file: File) => void;
  onText: (text: string) => void;
  onRemove: () => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [isOver, setOver] = useState(false);
  const { kind, opened, share } = props;
  return (
    <section
      className={`card stack ${css.zone}`}
      aria-label={t(kind)}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) props.onFile(file);
      }}
      onPaste={(event) => {
        const [file] = event.clipboardData.files;
        if (file) props.onFile(file);
        else props.onText(event.clipboardData.getData('text'));
      }}
    >
      <h2 style={{ fontSize: 14 }}>{t(kind)}</h2>
      {opened ? (
        <p className="row">
          <strong>{opened.name ?? t('pasted')}</strong>
          <span className="quiet">{t('lines', { count: format.number(opened.items.length) })}</span>
          <IconButton
            small
            icon="close"
            label={t('common.remove', { name: opened.name ?? t('pasted') })}
            onClick={props.onRemove}
          />
        </p>
      ) : (
        <p className="quiet">
          {share === undefined ? t('drop') : t('reading', { share: format.percent(share) })}
        </p>
      )}
      <FileButton
        small
        label={t(`choose.${kind}`)}
        accept=".ndjson,.jsonl,.json,application/json,application/x-ndjson"
        onFile={props.onFile}
      >
        {t('choose')}
      </FileButton>
      {opened && <Issues opened={opened} />}
    </section>
  );
};
