/* A job's report in the formats of other tools. */
import type { JSX } from 'preact';
import { problemOf, send } from '../api/client';
import { Failure, useAction } from './Action';

const FORMATS: [string, string, string][] = [
  ['html', 'HTML page', 'html'],
  ['markdown', 'Markdown', 'md'],
  ['text', 'Text', 'txt'],
  ['sarif', 'SARIF', 'sarif'],
  ['junit', 'JUnit', 'xml'],
  ['gitlab', 'GitLab', 'json'],
  ['json', 'JSON', 'json'],
];

/** Fetches the report with the token, which a plain link cannot send. */
async function download(job: string, format: string, ending: string): Promise<void> {
  const response = await send(`/v1/jobs/${job}/report?format=${format}`);
  if (!response.ok) throw await problemOf(response);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${job}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function ReportFiles({ job }: { job: string }): JSX.Element {
  const action = useAction();
  return (
    <section aria-labelledby="formats">
      <h2 id="formats">Report as a file</h2>
      <div class="toolbar">
        {FORMATS.map(([format, name, ending]) => (
          <button
            key={format}
            type="button"
            onClick={() => void action.run(() => download(job, format, ending))}
          >
            {name}
          </button>
        ))}
      </div>
      <Failure action={action} />
    </section>
  );
}
