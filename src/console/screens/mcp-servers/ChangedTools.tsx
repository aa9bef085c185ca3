import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Card } from '../../design/Layout.tsx';
import { Ago } from '../../design/Time.tsx';
import { useWork } from '../../feedback/use-work.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { Status } from './mcp-server.ts';
import { acceptTools } from './server-actions.tsx';
import texts from './texts.json' with { type: 'json' };

/**
 * Tools whose definitions the server changed or added since an operator accepted them, which can be reviewed and
 * accepted here, and tools that agents are not offered.
 */
export const ChangedTools = ({ id, status }: { id: string; status: Status }) => {
  const t = useTexts(texts);
  const [isBusy, run] = useWork();
  const { changed_tools: changed, left_out: leftOut, tools } = status;
  if (changed.length === 0 && leftOut.length === 0) return null;
  const describe = (name: string): string => tools.find((tool) => tool.name === name)?.description ?? '—';
  return (
    <Card title={t('changed.title')}>
      {changed.length > 0 && (
        <>
          <p>{t('changed.text')}</p>
          <ul className="stack">
            {changed.map(({ name, change, held, seen_at }) => (
              <li key={name}>
                <code>{visibleText(name)}</code>{' '}
                <Chip tone={held ? 'warn' : 'info'}>
                  {t(held ? 'changed.held' : change === 'new' ? 'changed.new' : 'changed.changed')}
                </Chip>{' '}
                <Ago at={seen_at} />
                <div>{visibleText(describe(name))}</div>
              </li>
            ))}
          </ul>
          <Button tone="primary" disabled={isBusy} onClick={() => run(() => acceptTools(id, changed))}>
            {t('changed.accept', { count: changed.length })}
          </Button>
        </>
      )}
      {leftOut.length > 0 && (
        <>
          <h3>{t('leftOut.title')}</h3>
          <ul className="stack">
            {leftOut.map(({ name, reason }) => (
              <li key={name}>
                <code>{visibleText(name)}</code> {reason}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
};
