// SPDX-License-Identifier: MIT
// Scenarios that are run without being scored and that the fixture server does not pass, with the
// reason. One that passes must be taken off the list.
const noTasks = 'the tasks extension is not offered';

export const expectedFailures = {
    'tasks-lifecycle': noTasks,
    'tasks-capability-negotiation': noTasks,
    'tasks-wire-fields': noTasks,
    'tasks-request-state-removal': noTasks,
    'tasks-mrtr-input': noTasks,
    'tasks-request-headers': noTasks,
    'tasks-dispatch-and-envelope': noTasks,
    'tasks-required-task-error': noTasks,
    'tasks-mrtr-composition': noTasks,
    'http-custom-header-server-validation': 'Mcp-Param-* headers belong to HTTP servers',
};
