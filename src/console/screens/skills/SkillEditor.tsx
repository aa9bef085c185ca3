import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import type { JsonObject } from '../../data/guard.ts';
import { sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { Button, buttonLook, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Icon } from '../../design/Icon.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import { MergeDialog } from '../../entry/MergeDialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { problemsIn } from '../../schema-form/check.ts';
import { SchemaForm, useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { ScreenLink, useGo } from '../../shell/links.tsx';
import { NoSuch } from '../../shell/NoSuch.tsx';
import { isScreen } from '../../shell/screen-paths.ts';
import { UnsavedGuard } from '../../shell/UnsavedGuard.tsx';
import { KeptOffer, useKept } from '../agent-editor/KeptOffer.tsx';
import { Instructions } from './Instructions.tsx';
import { AGENTS, SCHEMA } from './resources.ts';
import css from './Skills.module.css';
import { usersOf } from './skill.ts';
import { texts } from './texts.ts';
import { useHints } from './use-hints.ts';
import { type Errors, isDirty, type Opened, type OpenSkill, useOpened, useSaving } from './use-skill.ts';

/** One skill: what it is, when it is taken up, and what an agent is told then. */

const Users = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS);
  return (
    <Card title={t('users')} note={t('users.note')}>
      <Loaded query={agents} plain>
        {(known) => {
          const users = usersOf(known, id);
          if (users.length === 0) return <p className={css.note}>{t('agents.none')}</p>;
          return (
            <ul className={css.users}>
              {users.map((agent) => (
                <li key={agent}>
                  <ScreenLink to={`/agents/${encodeURIComponent(agent)}`} className={css.mono}>
                    {agent}
                  </ScreenLink>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
};

const Actions = (props: { open: OpenSkill; dirty: boolean; busy: boolean; onSave: () => void }) => {
  const t = useTexts(texts);
  const go = useGo();
  const [isDoomed, doom] = useState(false);
  const { open, dirty } = props;
  const { id } = open.start;
  const source = sourceState(open.meta);
  const audit = `/audit-log?resource=${encodeURIComponent(`skills/${id}`)}`;
  return (
    <>
      {dirty ? <Chip tone="warn">{t('unsaved')}</Chip> : !open.isNew && <Chip>{t('clean')}</Chip>}
      {!open.isNew && (
        <>
          <SourceChip state={source} />
          {isScreen('/audit-log') && (
            <ScreenLink to={audit} className={buttonLook}>
              <Icon name="audit" />
              {t('audit')}
            </ScreenLink>
          )}
          <IconButton
            icon="trash"
            tone="danger"
            label={t('delete', { id })}
            disabled={dirty}
            onClick={() => doom(true)}
          />
        </>
      )}
      <Button
        tone="primary"
        data-save
        disabled={(!dirty && !open.isNew) || props.busy}
        onClick={props.onSave}
      >
        {t('save')}
      </Button>
      {isDoomed && (
        <DeleteDialog
          namespace="skills"
          entity="entity.skill"
          id={id}
          note={source === 'user' ? undefined : t('delete.builtin')}
          onDeleted={() => go('/skills')}
          onClose={() => doom(false)}
        />
      )}
    </>
  );
};

/** Once what is wrong is on the screen, its first field is typed into. */
const useFirstError = (errors: Errors) => {
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (errors.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);
  return form;
};

/** A new one that was stored has an address of its own from then on. */
const useOwnAddress = ({ isNew, start }: OpenSkill): void => {
  const navigate = useNavigate();
  useEffect(() => {
    if (isNew || !location.pathname.endsWith('/skills/new')) return;
    void navigate({ to: `/skills/${encodeURIComponent(start.id)}`, replace: true });
  }, [isNew, start.id, navigate]);
};

type FormProps = { open: OpenSkill; opened: Opened; schema: JsonObject };

const Form = ({ open, opened, schema }: FormProps) => {
  const t = useTexts(texts);
  const textOf = useProblemTexts();
  const hints = useHints({ isNew: open.isNew, hasPaths: Array.isArray(open.start.paths) });
  const check = ({ draft, unread }: OpenSkill): Errors => {
    const problems = problemsIn(schema, draft);
    return new Map([
      ...problems.map((problem) => [problem.path, textOf(problem)] as const),
      ...Object.keys(unread).map((path) => [path, textOf({ path, key: 'problem.json' })] as const),
    ]);
  };
  const saving = useSaving(opened, check);
  const form = useFirstError(saving.errors);
  useOwnAddress(open);
  const { draft } = open;
  const dirty = isDirty(open);
  const kept = useKept(open, dirty, 'skill');
  const { instructions_md: written } = draft;
  return (
    <Page
      title={open.isNew ? t('title.new') : open.start.id}
      purpose={t('editor.purpose')}
      actions={<Actions open={open} dirty={dirty} busy={saving.busy} onSave={() => void saving.save(open)} />}
    >
      <UnsavedGuard isDirty={dirty} />
      <KeptOffer kept={kept} onTake={saving.change} />
      <div className={css.editor} ref={form}>
        <Card title={t('about')}>
          <SchemaForm
            label={t('about')}
            schema={schema}
            ui={hints}
            value={draft}
            path=""
            errors={saving.errors}
            unread={open.unread}
            onUnread={saving.onUnread}
            onChange={saving.change}
          />
        </Card>
        <Instructions
          skill={draft}
          value={typeof written === 'string' ? written : ''}
          error={saving.errors.get('instructions_md')}
          onChange={(text) => saving.change({ ...draft, instructions_md: text })}
        />
        {!open.isNew && <Users id={open.start.id} />}
      </div>
      {saving.conflict && (
        <MergeDialog
          base={open.start}
          mine={open.draft}
          theirs={saving.conflict.spec}
          actor={saving.conflict.meta?.actor}
          onMerge={saving.resolve}
          onTakeTheirs={saving.takeTheirs}
          onClose={saving.leaveConflict}
        />
      )}
    </Page>
  );
};

const Missing = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  return (
    <NoSuch title={t('missing.title', { id })} to="/skills" all={t('back')}>
      {t('missing.text')}
    </NoSuch>
  );
};

const Opening = ({ id, schema }: { id: string | undefined; schema: JsonObject }) => {
  const opened = useOpened(id);
  const { open, error } = opened;
  if (id !== undefined && statusOf(error) === 404) return <Missing id={id} />;
  if (error !== undefined) return <ErrorBox error={error} onRetry={opened.retry} />;
  return open ? <Form open={open} opened={opened} schema={schema} /> : <SkeletonRows />;
};

export default function SkillEditor() {
  // Of `/skills/new` there is none.
  const { id }: { id?: string } = useParams({ strict: false });
  const query = useResource(SCHEMA);
  return (
    <Loaded query={query} off={SCHEMA.off}>
      {(schema) => <Opening key={id ?? ''} id={id} schema={schema} />}
    </Loaded>
  );
}
