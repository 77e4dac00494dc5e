"use strict";
{
    const events = new EventSource("/events" + location.search);
    events.addEventListener("command", (event) => {
        const command = JSON.parse(event.data);
        document.body.textContent = `${command.user_name ?? command.user_id} x${command.count}`;
    });
}
